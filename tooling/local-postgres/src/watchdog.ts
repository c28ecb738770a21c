import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'

/**
 * Waits on a pipe that only this process holds open. When the process ends, however it ends (`kill -9` too), the pipe
 * closes and the watchdog shuts the server down and removes the folder it was given. It needs no signal or exit
 * handlers, so it changes nothing for the process that started the server.
 */
const SCRIPT = `
read -r word
[ "$word" = done ] && exit 0
if [ "$(head -n 1 "$2/postmaster.pid" 2>/dev/null)" = "$1" ]; then
  kill -INT "$1" 2>/dev/null
  n=0
  while kill -0 "$1" 2>/dev/null; do
    n=$((n + 1))
    [ "$n" -eq 300 ] && kill -QUIT "$1" 2>/dev/null
    [ "$n" -eq 400 ] && kill -KILL "$1" 2>/dev/null && break
    sleep 0.1
  done
fi
[ -n "$3" ] && rm -rf "$3"
exit 0
`

/** A running watchdog. */
export interface Watchdog {
  /** Ends it without any action, after the server was stopped in the ordinary way. */
  dismiss(): void
}

/** Guards server `pid` on `dataDir`; `remove` is a folder to delete afterwards, or empty. */
export function startWatchdog(pid: number, dataDir: string, remove: string): Watchdog {
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'tidemark-watchdog', String(pid), dataDir, remove], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // A watchdog that somebody has killed is no reason to fail: what it guards is found at the next start.
  child.on('error', () => {})
  child.stdin.on('error', () => {})
  child.unref()
  ;(child.stdin as Socket).unref()
  return { dismiss: () => child.stdin.end('done\n') }
}
