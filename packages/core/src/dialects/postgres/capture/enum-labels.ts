import type { AnyKysely, AnyTransaction } from '../../dialect.ts'
import { run } from '../run.ts'

/** Whether an enum type, named as in casts, has all these labels. Nulls are passed over. Needs no right on the type or its schema. */
export async function hasLabels(
  db: AnyKysely | AnyTransaction,
  type: string,
  labels: Iterable<string | null>,
): Promise<boolean> {
  const asked = [...new Set(labels)].filter((label) => label !== null)
  if (asked.length === 0) return true
  const [row] = await run<{ known: string }>(
    db,
    `select count(*)::text as known
     from pg_enum e join pg_type t on t.oid = e.enumtypid join pg_namespace n on n.oid = t.typnamespace
     where '"' || replace(n.nspname, '"', '""') || '"."' || replace(t.typname, '"', '""') || '"' = $1::text
       and e.enumlabel in (select json_array_elements_text($2::json))`,
    [type, JSON.stringify(asked)],
  )
  return Number(row?.known) === asked.length
}
