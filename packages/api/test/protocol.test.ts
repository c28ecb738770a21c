import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { syncLimits } from '../src/index.ts'

test('the entry ./protocol is types alone: nothing is imported and nothing is left to run', async () => {
  const source = await readFile(new URL('../src/protocol.ts', import.meta.url), 'utf8')
  expect(source).not.toMatch(/^\s*(import|export\s+(\*|\{|const|let|function|class|enum|default))\b/m)
  expect(Object.keys(await import('../src/protocol.ts'))).toEqual([])
})

test('the limits cannot be changed by whoever reads them', () => {
  expect(Object.isFrozen(syncLimits)).toBe(true)
})
