import { edited, type InstalledTrigger, type Production } from './production.ts'

/** One way to write to a table: without capture, with part of it, or with all of it. */
export interface Variant {
  readonly name: string
  /** What this one has and the one before it had not, in the order of a chain; `null` for what stands beside the chain. */
  readonly adds: string | null
  /** The log it appends to. */
  readonly log: string | null
  /** Statements that make its table captured in this way, when the table is there. */
  readonly install: (table: string) => readonly string[]
}

/** The tables that `migrate` captures: as it captures ordinary tables, and by row triggers. */
export const PRODUCTION = 'production'
export const BY_ROW = 'by_row'

const BARE_LOG = 'parts.log_bare'
const indexedLog = (indexes: number): string => `parts.log_indexed_${indexes}`

/** The chain from an uncaptured table to full capture, then what is compared with its ends. */
export function variantsOf(production: Production): readonly Variant[] {
  const part = (name: string, adds: string, make: (trigger: InstalledTrigger) => string): Variant => ({
    name,
    adds,
    log: null,
    install: attach(production, make),
  })
  const appending = (name: string, adds: string, log: string): Variant => ({
    ...part(name, adds, (trigger) => functionOf(trigger, appendingTo(log, trigger.body))),
    log,
  })
  const beside = { adds: null, install: () => [] }
  return [
    { ...beside, name: 'plain', log: null },
    part('empty', 'the trigger call, with its transition tables', (trigger) => unguarded(functionOf(trigger, EMPTY))),
    part('definer', 'security definer', (trigger) => unpinned(functionOf(trigger, EMPTY))),
    part('pinned', 'the pinned search_path', (trigger) => functionOf(trigger, EMPTY)),
    part('checked', "the check, and the entry's values", (trigger) => functionOf(trigger, checking(trigger.body))),
    appending('appended', 'the entry, in a log without an index', BARE_LOG),
    ...production.indexes.map(({ name }, i) => appending(`indexed${i + 1}`, `index ${name}`, indexedLog(i + 1))),
    { ...beside, name: 'control', log: null },
    { ...beside, name: PRODUCTION, log: 'tidemark.log' },
    { ...beside, name: BY_ROW, log: 'tidemark.log' },
  ]
}

/** Copies of the log for {@link variantsOf}: without an index, and with one more each. */
export function logCopies({ indexes, owner }: Production, entries: number): readonly string[] {
  const copy = (log: string, count: number): string[] => [
    `create table ${log} (like tidemark.log including defaults including identity)`,
    `grant insert on ${log} to ${owner}`,
    fillLog(log, entries),
    ...indexes
      .slice(0, count)
      .map(({ definition }) => edited(definition, /INDEX \S+ ON tidemark\.log /, `INDEX ON ${log} `)),
  ]
  return [
    'create schema parts',
    `grant usage on schema parts to ${owner}`,
    ...copy(BARE_LOG, 0),
    ...indexes.flatMap((_, i) => copy(indexedLog(i + 1), i + 1)),
  ]
}

/** Entries that were there before: an index of a log in use is some levels deep. They say to be of table 0, which there is not. */
export function fillLog(log: string, entries: number): string {
  return `insert into ${log} (tbl, op, n, tenant, scopes, keys)
    select 0, 'u', 1, (g % 20)::text, array[(g % 5)::text], array[g::text] from generate_series(1, ${entries}) g`
}

const EMPTY = `
begin
  return null;
end
`

/** Every part of the condition and of the entry is computed, and nothing appended. */
function checking(body: string): string {
  return edited(body, /insert into "tidemark"\.log \([^)]*\)\s+select/g, 'perform')
}

function appendingTo(log: string, body: string): string {
  return edited(body, /insert into "tidemark"\.log \(/g, `insert into ${log} (`)
}

/** The production function's definition with another body. */
function functionOf({ functionDefinition, body }: InstalledTrigger, newBody: string): string {
  return edited(functionDefinition, /\$function\$[^]*\$function\$/, (quoted) => {
    if (quoted !== `$function$${body}$function$`) throw new Error('the function is not quoted as expected')
    return `$function$${newBody}$function$`
  })
}

function unpinned(definition: string): string {
  return edited(definition, /\n SET search_path TO [^\n]*/, '')
}

function unguarded(definition: string): string {
  return edited(unpinned(definition), / SECURITY DEFINER/, '')
}

const events = ['update', 'insert'] as const

/** Functions of the variant's own, made by `make`, and on its table the production's triggers, which call them. */
function attach(production: Production, make: (trigger: InstalledTrigger) => string): Variant['install'] {
  return (table) =>
    events.flatMap((event) => {
      const trigger = production[event]
      const name = `parts.${table}_${event}`
      const definition = make(trigger)
      const [, triggerName] = found(trigger.definition, /^CREATE TRIGGER ("[^"]+"|\S+) /)
      return [
        named(definition, trigger, name),
        ...(definition.includes('SECURITY DEFINER') ? owned(name, production.owner) : []),
        named(edited(trigger.definition, / ON \S+ /, ` ON ${table} `), trigger, name),
        `alter table ${table} enable always trigger ${triggerName}`,
      ]
    })
}

function named(definition: string, { functionName }: InstalledTrigger, name: string): string {
  return edited(definition, `FUNCTION ${functionName}(`, `FUNCTION ${name}(`)
}

function owned(name: string, owner: string): string[] {
  return [
    `grant create on schema parts to ${owner}`,
    `alter function ${name}() owner to ${owner}`,
    `revoke create on schema parts from ${owner}`,
  ]
}

function found(text: string, pattern: RegExp): RegExpExecArray {
  const match = pattern.exec(text)
  if (match === null) throw new Error(`capture no longer has the text that was to be found: ${String(pattern)}`)
  return match
}
