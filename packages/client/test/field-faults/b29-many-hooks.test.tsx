// @vitest-environment happy-dom
import type { ReactElement } from 'react'
import { expect, it } from 'vitest'
import { useChanges, useSyncStatus, useTableVersion } from '../../src/react/index.ts'
import { following } from '../support/following.ts'
import { during, render } from '../support/render.ts'
import { page } from '../support/scripted-sync.ts'

// Each hook opened its own stream; six of them blocked the origin under HTTP/1.1.
it('B29: seven hooks on one client keep one loop, and the last to go ends it', async () => {
  const { sync, server, environment } = following({ since: 'c0' })
  function Hook({ kind }: { kind: number }): ReactElement | null {
    // One component per kind, so the rule of hooks holds.
    return kind === 0 ? <WithStatus /> : kind === 1 ? <WithVersion /> : <WithChanges />
  }
  function WithStatus(): null {
    useSyncStatus(sync)
    return null
  }
  function WithVersion(): null {
    useTableVersion(sync, 'notes')
    return null
  }
  function WithChanges(): null {
    useChanges(sync, { onChanges: () => {} })
    return null
  }
  const hooks = (count: number): ReactElement[] =>
    Array.from({ length: count }, (_, index) => <Hook key={index} kind={index % 3} />)

  await using view = await render(hooks(7))
  expect(server.calls).toHaveLength(1)
  await during(() => server.last.answer(page('c1')))
  await during(() => environment.advance(2_000))
  expect(server.calls).toHaveLength(2)
  await view.render(hooks(1))
  expect(server.last.signal.aborted).toBe(false)
  await during(() => server.last.answer(page('c2')))
  await during(() => environment.advance(2_000))
  expect(server.calls).toHaveLength(3)
  expect(environment.pending).toHaveLength(1)
  // The last hook of one page hands over to the first of the next without a new request.
  await view.render([<Hook key="next" kind={2} />])
  expect(server.calls).toHaveLength(3)
  expect(server.last.signal.aborted).toBe(false)

  await view.render([])
  expect(server.last.signal.aborted).toBe(true)
  await during(() => environment.advance(60_000))
  expect(server.calls).toHaveLength(3)
})
