// @vitest-environment happy-dom
import type { ReactElement } from 'react'
import { expect, it } from 'vitest'
import type { SyncClient } from '../../src/index.ts'
import { useChanges } from '../../src/react/index.ts'
import { following } from '../support/following.ts'
import { during, render } from '../support/render.ts'
import { change, page, type Table } from '../support/scripted-sync.ts'

// An options object written inline is new on every render: the hook subscribed again each time, or kept the old data.
it('B56: inline options subscribe once, and once more when the tables really change', async () => {
  const { sync, server } = following({ since: 'c0' })
  let added = 0
  let open = 0
  const counting: SyncClient<Table> = {
    ...sync,
    onChanges: (listener) => {
      added += 1
      open += 1
      const remove = sync.onChanges(listener)
      return () => {
        open -= 1
        remove()
      }
    },
  }
  const seen: string[] = []
  function Rows({ tables, count }: { tables: readonly Table[]; count: number }): ReactElement {
    useChanges(counting, {
      tables: [...tables],
      onChanges: ({ changes }) =>
        void seen.push(...changes.map(({ table, key }) => `${tables.join('+')}: ${table} ${key}`)),
    })
    return <>{count}</>
  }
  await using view = await render(<Rows tables={['shipments']} count={0} />)
  // StrictMode mounts, unmounts and mounts again.
  expect([added, open]).toStrictEqual([2, 1])
  for (let count = 1; count <= 20; count += 1) await view.render(<Rows tables={['shipments']} count={count} />)
  expect([added, open]).toStrictEqual([2, 1])
  await during(() => server.last.answer(page('c1', [change('shipments', '1'), change('notes', '1')], true)))
  await view.render(<Rows tables={['notes']} count={21} />)
  expect([added, open]).toStrictEqual([3, 1])
  await during(() => server.last.answer(page('c2', [change('shipments', '2'), change('notes', '2')])))
  expect(seen).toStrictEqual(['shipments: shipments 1', 'notes: notes 2'])
  expect(server.sinces).toStrictEqual(['c0', 'c1'])
  await view.unmount()
  expect(open).toBe(0)
})
