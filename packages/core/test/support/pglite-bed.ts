import { PGlite } from '@electric-sql/pglite'
import { citext } from '@electric-sql/pglite/contrib/citext'
import { Kysely } from 'kysely'
import { PgliteDialect } from '../../src/dialects/pglite/index.ts'
import { type AnyTables, type Bed, type BedOptions, quoted, type Row } from './bed.ts'
import { initialisedDataDir } from './pglite-data-dir.ts'

/** PGlite in this process, in memory. */
export async function openPglite({ feedSchema = 'tidemark', level = 'statement' }: BedOptions = {}): Promise<Bed> {
  const pglite = await PGlite.create({ loadDataDir: await initialisedDataDir(), extensions: { citext } })
  const db = new Kysely<AnyTables>({ dialect: new PgliteDialect({ pglite }) })
  const sql = async (text: string): Promise<Row[]> => (await pglite.exec(text)).at(-1)?.rows ?? []
  const searchPath = 'set search_path = app, public'
  const [version] = await sql('show server_version_num')
  return {
    backend: 'pglite',
    level,
    major: Math.trunc(Number(version?.['server_version_num']) / 10_000),
    db,
    feedSchema,
    sql,
    session: async ({ role, setup } = {}) => {
      if (setup !== undefined) await sql(setup)
      if (role !== undefined) await sql(`set session authorization ${quoted(role)}`)
      return {
        sql,
        [Symbol.asyncDispose]: async () => {
          await sql('rollback')
          // RESET SESSION AUTHORIZATION does nothing here: the session has no other user to go back to.
          await sql(`set session authorization postgres; reset all; deallocate all; ${searchPath}`)
        },
      }
    },
    copyIn: async (target, text) => {
      await pglite.query(`copy ${target} from '/dev/blob'`, [], { blob: new Blob([text]) })
    },
    reset: async () => {
      await sql(
        `drop schema if exists ${quoted(feedSchema)} cascade; drop schema if exists app cascade; create schema app; ${searchPath}`,
      )
    },
    close: () => db.destroy(),
  }
}
