import {
  createSyncClient,
  memoryStore,
  type CursorStore,
  type SyncClient,
  type SyncClientError,
  type WireChange,
} from '../../src/index.ts'
import { FakeEnvironment, settle } from './fake-environment.ts'
import { ScriptedSync, type Table } from './scripted-sync.ts'

interface FollowingOptions {
  readonly since?: string
  readonly store?: CursorStore
  readonly key?: string
  readonly intervalMs?: number
  readonly timeoutMs?: number
  readonly server?: ScriptedSync
}

/** A client between a scripted server and a fake environment, with everything it says written down. */
export interface Following {
  readonly sync: SyncClient<Table>
  readonly server: ScriptedSync
  readonly environment: FakeEnvironment
  readonly keys: (string | null)[]
  readonly resyncs: string[]
  readonly errors: SyncClientError[]
  readonly start: () => Promise<void>
}

export function following(options: FollowingOptions = {}): Following {
  const { store = memoryStore(), key = 'acme/u1', server = new ScriptedSync(), ...rest } = options
  const environment = new FakeEnvironment()
  const keys: (string | null)[] = []
  const resyncs: string[] = []
  const errors: SyncClientError[] = []
  const sync = createSyncClient({
    trpc: server,
    tables: ['shipments', 'notes'],
    environment,
    onError: (error) => errors.push(error),
    store,
    key,
    ...rest,
  })
  sync.onChanges(({ changes }) => void keys.push(...changes.map((change: WireChange) => change.key)))
  sync.onResync(({ reason }) => void resyncs.push(reason))
  const start = async (): Promise<void> => {
    sync.start()
    await settle()
  }
  return { sync, server, environment, keys, resyncs, errors, start }
}

/** A promise and the functions that end it. */
export function deferred<R = void>(): {
  promise: Promise<R>
  resolve: (value: R) => void
  reject: (error: unknown) => void
} {
  let resolve!: (value: R) => void
  let reject!: (error: unknown) => void
  const promise = new Promise<R>((onFulfilled, onRejected) => {
    resolve = onFulfilled
    reject = onRejected
  })
  return { promise, resolve, reject }
}
