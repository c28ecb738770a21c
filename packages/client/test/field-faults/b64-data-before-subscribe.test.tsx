// @vitest-environment happy-dom
import { useLayoutEffect, type ReactElement } from 'react'
import { expect, it } from 'vitest'
import { useSyncStatus, useTableVersion } from '../../src/react/index.ts'
import { settle } from '../support/fake-environment.ts'
import { following } from '../support/following.ts'
import { during, render } from '../support/render.ts'
import { change, page, ScriptedSync } from '../support/scripted-sync.ts'

// Data came after the hook's first snapshot and before it subscribed; the component stayed in 'loading'.
it.each(['a running client', 'a client that the hook starts'])(
  'B64: %s that answers in a microtask is shown without a further write',
  async (how) => {
    const server = new ScriptedSync()
    server.prepared.push(page('c1', [change('notes', '1')]))
    const { sync, environment } = following({ since: 'c0', server })
    if (how === 'a running client') sync.start()
    function View(): ReactElement {
      const version = useTableVersion(sync, 'notes')
      const { status } = useSyncStatus(sync)
      return (
        <>
          {status} {version}
        </>
      )
    }
    await using view = await render(<View />)
    expect(view.text()).toBe('upToDate 1')
    expect(server.calls).toHaveLength(1)
    expect(environment.now).toBe(0)
    await during(() => sync.stop())
  },
)

it('B64: an answer between the first render and the subscription is not lost', async () => {
  const { sync, server } = following({ since: 'c0' })
  sync.start()
  await settle()
  function Child(): null {
    // Runs after the first render of the parent and before its effects subscribe.
    useLayoutEffect(() => sync.stop(), [])
    return null
  }
  function View(): ReactElement {
    const { status } = useSyncStatus(sync)
    return (
      <>
        {status}
        <Child />
      </>
    )
  }
  expect(sync.getSnapshot().status).toBe('connecting')
  await using view = await render(<View />)
  expect(view.text()).toBe('idle')
  expect(server.last.signal.aborted).toBe(true)
})
