// @vitest-environment happy-dom
import { useEffect, useState, type ReactElement } from 'react'
import { renderToString } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { createSyncClient, type SyncClient } from '../../src/index.ts'
import { useChanges, useSyncStatus, useTableVersion } from '../../src/react/index.ts'
import { FakeEnvironment, settle } from '../support/fake-environment.ts'
import { following } from '../support/following.ts'
import { during, render } from '../support/render.ts'
import { change, httpError, page, type Table } from '../support/scripted-sync.ts'

type Sync = SyncClient<Table>

function Status({ sync }: { sync: Sync }): ReactElement {
  const { status, error } = useSyncStatus(sync)
  return <span>{error === null ? status : `${status} ${error.code}`}</span>
}

function Version({ sync, table }: { sync: Sync; table: Table | readonly Table[] }): ReactElement {
  return <span>{useTableVersion(sync, table)}</span>
}

describe('useSyncStatus', () => {
  it('follows while mounted, once, and shows how it goes', async () => {
    const { sync, server, environment } = following({ since: 'c0' })
    await using view = await render(<Status sync={sync} />)
    expect(server.calls).toHaveLength(1)
    expect(server.last.signal.aborted).toBe(false)
    expect(view.text()).toBe('connecting')
    await during(() => server.last.answer(page('c1')))
    expect(view.text()).toBe('upToDate')
    await during(() => environment.setVisible(false))
    expect(view.text()).toBe('paused')
    await during(() => environment.setVisible(true))
    expect(view.text()).toBe('connecting')
    await during(() => server.last.fail(httpError(503)))
    expect(view.text()).toBe('retrying unavailable')
    await view.unmount()
    expect(sync.getSnapshot().status).toBe('idle')
    expect(environment.pending).toStrictEqual([])
    expect(environment.listenerCount).toBe(0)
  })

  it('goes over to another client', async () => {
    const [one, two] = [following({ since: 'a0' }), following({ since: 'b0' })]
    await using view = await render(<Status sync={one.sync} />)
    await view.render(<Status sync={two.sync} />)
    expect(one.sync.getSnapshot().status).toBe('idle')
    expect(two.server.calls).toHaveLength(1)
    await during(() => two.server.last.answer(page('b1')))
    expect(view.text()).toBe('upToDate')
  })

  it('does not render again for polls that bring nothing', async () => {
    const { sync, server, environment } = following({ since: 'c0' })
    let renders = 0
    function Counting(): ReactElement {
      renders += 1
      return <Status sync={sync} />
    }
    await using _ = await render(<Counting />)
    await during(() => server.last.answer(page('c1')))
    const before = renders
    for (let count = 2; count < 7; count += 1) {
      await during(() => environment.advance(2_000))
      await during(() => server.last.answer(page(`c${count}`)))
    }
    expect(sync.cursor).toBe('c6')
    expect(renders).toBe(before)
  })
})

describe('useTableVersion', () => {
  it('moves with the tables named, and renders for no others', async () => {
    const { sync, server } = following({ since: 'c0' })
    let renders = 0
    function Shipments(): ReactElement {
      renders += 1
      return <Version sync={sync} table="shipments" />
    }
    const both = ['shipments', 'notes'] as const
    await using view = await render(
      <>
        <Shipments />|<Version sync={sync} table={both} />|<Version sync={sync} table={['notes']} />
      </>,
    )
    expect(view.text()).toBe('0|0|0')
    await during(() => server.last.answer(page('c1', [change('shipments', '1'), change('shipments', '2')])))
    expect(view.text()).toBe('1|1|0')
    const before = renders
    sync.poll()
    await during(() => server.last.answer(page('c2', [change('notes', '1')])))
    expect(view.text()).toBe('1|2|1')
    expect(renders).toBe(before)
  })

  it('makes a component that read before following began read again', async () => {
    const { sync, server } = following()
    let rows = 'old'
    function List(): ReactElement {
      const [shown, setShown] = useState('')
      const version = useTableVersion(sync, 'notes')
      useEffect(() => setShown(rows), [version])
      return <>{shown}</>
    }
    await using view = await render(<List />)
    expect(view.text()).toBe('old')
    // Written after the read and before the server names the head: no change will ever tell of it.
    rows = 'new'
    await during(() => server.last.answer(page('head')))
    expect(view.text()).toBe('new')
  })
})

describe('useChanges', () => {
  it('hands on the changes of its tables only, with the latest callback', async () => {
    const { sync, server } = following()
    const seen: string[] = []
    function Notes({ name }: { name: string }): ReactElement {
      useChanges(sync, {
        tables: ['notes'],
        onChanges: ({ changes }) =>
          void seen.push(`${name}: ${changes.map(({ table, key }) => `${table} ${key}`).join(', ')}`),
        onResync: ({ reason }) => void seen.push(`${name}: ${reason}`),
      })
      return <>{name}</>
    }
    await using view = await render(<Notes name="a" />)
    await during(() => server.last.answer(page('c1')))
    await view.render(<Notes name="b" />)
    sync.poll()
    await during(() => server.last.answer(page('c2', [change('shipments', '1'), change('notes', '2')], true)))
    await during(() => server.last.answer(page('c3', [change('shipments', '3')])))
    expect(seen).toStrictEqual(['a: start', 'b: notes 2'])
  })

  it('gets a page again that its callback failed on', async () => {
    const { sync, server, environment } = following({ since: 'c0' })
    let failures = 1
    const seen: string[] = []
    function Notes(): ReactElement {
      useChanges(sync, {
        onChanges: async ({ changes }) => {
          await Promise.resolve()
          if (failures-- > 0) throw new Error('no')
          seen.push(...changes.map(({ key }) => key ?? ''))
        },
      })
      return <Status sync={sync} />
    }
    await using view = await render(<Notes />)
    await during(() => server.last.answer(page('c1', [change('notes', '1')])))
    expect(view.text()).toBe('retrying listener')
    await during(() => environment.advance(500))
    await during(() => server.last.answer(page('c1', [change('notes', '1')])))
    expect(seen).toStrictEqual(['1'])
    expect(view.text()).toBe('upToDate')
  })
})

describe('server rendering', () => {
  it('shows an idle client and asks for nothing', async () => {
    const { sync, server } = following()
    function Page(): ReactElement {
      useChanges(sync, { onChanges: () => {} })
      return (
        <>
          <Status sync={sync} />
          <Version sync={sync} table="notes" />
        </>
      )
    }
    expect(renderToString(<Page />)).toBe('<span>idle</span><span>0</span>')
    await settle()
    expect(server.calls).toHaveLength(0)
  })
})

describe('a client made while rendering', () => {
  it('holds nothing alive when its component is thrown away', async () => {
    const environment = new FakeEnvironment()
    const { server } = following()
    function Owner(): ReactElement {
      const [sync] = useState(() => createSyncClient({ trpc: server, environment }))
      return <Status sync={sync} />
    }
    const view = await render(<Owner />)
    // StrictMode calls the initialiser twice; only the client in use asks.
    expect(server.calls).toHaveLength(1)
    await view.unmount()
    expect(environment.pending).toStrictEqual([])
    expect(environment.listenerCount).toBe(0)
  })
})
