import { expect, it } from 'vitest'
import { memoryStore } from '../../src/index.ts'
import { deferred, following } from '../support/following.ts'
import { change, page } from '../support/scripted-sync.ts'

// The progress mark was saved before the page was applied: a crash in between left a hole that nothing ever filled.
it('B16: a crash while page 2 is applied goes on from page 1', async () => {
  const store = memoryStore()
  const applied = new Map<string, string>()
  const first = following({ since: 'c0', store })
  const crash = deferred()
  first.sync.onChanges(async ({ changes }) => {
    for (const { key } of changes) {
      if (key === '2b') await crash.promise
      applied.set(key ?? '', 'done')
    }
  })
  await first.start()
  await first.server.last.answer(page('c1', [change('notes', '1')], true))
  await first.server.last.answer(page('c2', [change('notes', '2a'), change('notes', '2b')]))
  expect([...applied.keys()]).toStrictEqual(['1', '2a'])

  // The process ends here; another begins with the same store.
  const second = following({ since: 'c0', store })
  second.sync.onChanges(({ changes }) => {
    for (const { key } of changes) applied.set(key ?? '', 'done')
  })
  await second.start()
  expect(second.server.sinces).toStrictEqual(['c1'])
  await second.server.last.answer(page('c2', [change('notes', '2a'), change('notes', '2b')]))
  expect([...applied.keys()]).toStrictEqual(['1', '2a', '2b'])
})
