import type { SyncClient, WireChange } from '@tidemark/client'
import { useChanges } from '@tidemark/client/react'
import { type JSX, useState } from 'react'
import type { Table } from '../api.ts'
import { clockTime } from '../format.ts'

const KEPT = 60

interface Line {
  readonly number: number
  readonly at: Date
  readonly kind: WireChange['operation'] | 'note'
  readonly text: string
  readonly everyone: boolean
}

/** The feed as it comes in, newest on top. */
export function ChangesPanel({ sync }: { readonly sync: SyncClient<Table> }): JSX.Element {
  const [{ lines, total }, setState] = useState<{ readonly lines: readonly Line[]; readonly total: number }>({
    lines: [],
    total: 0,
  })
  const add = (added: readonly Omit<Line, 'number'>[], counted: number): void =>
    setState((before) => {
      const numbered = added.map((line, i) => ({ ...line, number: (before.lines[0]?.number ?? 0) + i + 1 }))
      return { lines: [...numbered.reverse(), ...before.lines].slice(0, KEPT), total: before.total + counted }
    })
  useChanges(sync, {
    onChanges: ({ changes }) => add(changes.slice(-KEPT).map(lineOf), changes.length),
    onResync: ({ reason }) => {
      const text = reason === 'start' ? 'Following from here on' : `All is read anew (${reason})`
      add([{ at: new Date(), kind: 'note', text, everyone: false }], 0)
    },
  })
  return (
    <section className="card changes" aria-labelledby="changes-heading">
      <h2 id="changes-heading">
        Changes <span className="count">{total === 0 ? '' : total.toLocaleString('en')}</span>
      </h2>
      {/* Scrolls, so it must be reachable by keyboard. */}
      <div className="lines" role="log" aria-labelledby="changes-heading" tabIndex={0}>
        <ol>
          {lines.map(({ number, at, kind, text, everyone }) => (
            <li key={number} className={kind}>
              <time dateTime={at.toISOString()}>{clockTime(at)}</time>
              <span className="what">{text}</span>
              {everyone && <span className="everyone">everyone</span>}
            </li>
          ))}
        </ol>
      </div>
    </section>
  )
}

const nouns: Readonly<Record<Table, string>> = { cities: 'City', shipments: 'Shipment', notes: 'Note' }
const verbs: Readonly<Record<Exclude<WireChange['operation'], 'invalidate'>, string>> = {
  create: 'created',
  update: 'changed',
  delete: 'removed',
}

function lineOf({ table, key, operation, at, global }: WireChange<Table>): Omit<Line, 'number'> {
  const text =
    operation === 'invalidate' ? `All of ${table} may have changed` : `${nouns[table]} ${key} ${verbs[operation]}`
  return { at: new Date(at), kind: operation, text, everyone: global }
}
