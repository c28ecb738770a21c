// @ts-check
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The workspace's top folder. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** Runs TypeScript sources of the workspace without a build. */
export const sourceFlags = ['--conditions=@tidemark/source', '--import', 'tsx']

/**
 * Runs a program and resolves to its exit code; a signal counts as 128 and more. Signals that this process gets are
 * passed on, and it lives until the program has ended.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: Record<string, string | undefined> }} [options]
 * @returns {Promise<number>}
 */
export async function run(command, args, { cwd = root, env = {} } = {}) {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: 'inherit' })
  /** @param {NodeJS.Signals} signal */
  const passOn = (signal) => {
    // On a terminal Ctrl-C reaches the program by itself, and a second one might cut its clean end short.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
  }
  /** @type {readonly NodeJS.Signals[]} */
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, passOn)
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('exit', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : 143)))
    })
  } finally {
    for (const signal of signals) process.off(signal, passOn)
  }
}

/**
 * Runs a program to its end and keeps what it prints.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: Record<string, string | undefined> }} [options]
 * @returns {Promise<{ code: number, output: string }>}
 */
export async function capture(command, args, { cwd = root, env = {} } = {}) {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  return await new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: 127, output: error.message }))
    child.once('close', (code) => resolve({ code: code ?? 1, output }))
  })
}

/**
 * Path of a program that the workspace's top package depends on.
 *
 * @param {string} name
 */
export function tool(name) {
  return join(root, 'node_modules', '.bin', name)
}

/** Path of vitest's program, to be run by this very Node. */
export function vitestEntry() {
  return join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')
}
