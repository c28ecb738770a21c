import type pg from 'pg'

/** A capture trigger as `migrate` installed it. */
export interface InstalledTrigger {
  /** `create trigger …`, on the table it stands on. */
  readonly definition: string
  /** `create function …`, and the text between its quotes. */
  readonly functionDefinition: string
  readonly body: string
  readonly functionName: string
}

/** What is taken apart: read from the catalogue, so that it is what writers really run. */
export interface Production {
  readonly update: InstalledTrigger
  readonly insert: InstalledTrigger
  /** Role that owns the functions. */
  readonly owner: string
  /** `create index …` on the log, in the order in which they were made. */
  readonly indexes: readonly { readonly name: string; readonly definition: string }[]
}

/** Bits of `pg_trigger.tgtype`. */
const FOR_EACH_ROW = 1
const events = { insert: 4, update: 16 } as const

/** Reads how `table` is captured. */
export async function readProduction(admin: pg.Client, table: string): Promise<Production> {
  const triggers = await admin.query<InstalledTrigger & { type: number; owner: string }>(
    `select t.tgtype::int4 as type, pg_get_triggerdef(t.oid) as definition, pg_get_functiondef(p.oid) as "functionDefinition", p.prosrc as body,
       format('%I.%I', n.nspname, p.proname) as "functionName", quote_ident(r.rolname) as owner
     from pg_trigger t join pg_proc p on p.oid = t.tgfoid join pg_namespace n on n.oid = p.pronamespace join pg_roles r on r.oid = p.proowner
     where t.tgrelid = $1::regclass and not t.tgisinternal and t.tgenabled = 'A'`,
    [table],
  )
  const indexes = await admin.query<{ name: string; definition: string }>(
    `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
     from pg_index i where i.indrelid = 'tidemark.log'::regclass order by i.indexrelid`,
  )
  const of = (event: keyof typeof events): InstalledTrigger & { owner: string } => {
    const found = triggers.rows.filter(({ type }) => (type & FOR_EACH_ROW) === 0 && (type & events[event]) !== 0)
    const [only] = found
    if (only === undefined || found.length > 1) throw new Error(`${found.length} capture triggers on ${event}`)
    return only
  }
  return {
    update: of('update'),
    insert: of('insert'),
    owner: of('update').owner,
    indexes: indexes.rows.map(({ name, definition }) => ({ name: name.replace(/^.*\./, ''), definition })),
  }
}

/** Replaces what must be there. A text that is no longer as expected must not be measured as if it were. */
export function edited(
  text: string,
  pattern: string | RegExp,
  replacement: string | ((found: string) => string),
): string {
  const result = text.replace(pattern, typeof replacement === 'string' ? () => replacement : replacement)
  if (result === text) throw new Error(`capture no longer has the text that was to be edited: ${String(pattern)}`)
  return result
}
