import type { WireChange } from '@tidemark/client'
import type { CompanyId } from '../../src/shared/companies.ts'
import { createApi, type Api, type Table } from '../../src/web/api.ts'
import { signIn } from '../../src/web/session/session.ts'

/** The page's own clients, signed in and following, without the page. */
export interface TestDesk extends Api, Disposable {
  readonly company: CompanyId
  /** Every change that came in, in order. */
  readonly changes: readonly WireChange<Table>[]
  /** Polls at once, and waits until a change has come in. */
  until(isWanted: (change: WireChange<Table>) => boolean): Promise<WireChange<Table>>
  /** Id of the largest city of a name, found as the form finds it. */
  cityId(name: string): Promise<number>
  /** Waits until a table's version is at least `version`, which says that its rows are to be read anew. */
  untilVersion(table: Table, version: number): Promise<void>
}

/** Signs in and waits until following has begun: whatever is committed from then on comes in. */
export async function openDesk(origin: string, company: CompanyId): Promise<TestDesk> {
  const session = await signIn(company, { origin, onEnded: () => {} })
  const api = createApi(session)
  const changes: WireChange<Table>[] = []
  const watchers = new Set<() => void>()
  const happened = (): void => {
    for (const watcher of [...watchers]) watcher()
  }
  const untilHappened = (): Promise<void> =>
    new Promise((resolve) => {
      const watcher = (): void => {
        watchers.delete(watcher)
        resolve()
      }
      watchers.add(watcher)
    })
  api.sync.onChanges((event) => {
    changes.push(...event.changes)
    happened()
  })
  api.sync.subscribe(happened)
  const began = new Promise<void>((resolve) => api.sync.onResync(() => resolve()))
  api.sync.start()
  await began
  return {
    ...api,
    company,
    changes,
    until: async (isWanted) => {
      api.sync.poll()
      for (;;) {
        const found = changes.find(isWanted)
        if (found !== undefined) return found
        await untilHappened()
      }
    },
    cityId: async (name) => {
      const [city] = await api.trpc.cities.search.query({ text: name })
      if (city?.name !== name) throw new Error(`the search does not find ${name}`)
      return city.id
    },
    untilVersion: async (table, version) => {
      while (api.sync.version(table) < version) await untilHappened()
    },
    [Symbol.dispose]: () => api.sync.stop(),
  }
}
