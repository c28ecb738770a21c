import { expect, test } from 'vitest'
import { DemoError } from '../src/server/demo-error.ts'
import { readSettings } from '../src/server/settings.ts'

test('without variables: a Postgres of its own below the repository, all cities, port 3000 or the next', () => {
  const { folder, ...settings } = readSettings({})
  expect(folder).toMatch(/\/\.local$/)
  expect(settings).toEqual({
    database: { kind: 'embedded', folder },
    cities: 'all',
    host: '127.0.0.1',
    port: { number: 3000, orNext: true },
    secret: null,
  })
  // What a shell sets to nothing is not set.
  expect(readSettings({ PORT: '', DATABASE_URL: ' ', DEMO_DB: '', DEMO_DIR: '', DEMO_CITIES: '' })).toEqual({
    folder,
    ...settings,
  })
})

test('each variable has its effect', () => {
  const url = 'postgres://me@db.example/freight'
  expect(readSettings({ DATABASE_URL: url }).database).toEqual({ kind: 'given', url })
  expect(readSettings({ DEMO_DB: 'pglite', DEMO_DIR: '/data' }).database).toEqual({ kind: 'pglite', folder: '/data' })
  expect(readSettings({ DEMO_DB: 'pglite-memory' }).database).toEqual({ kind: 'pglite', folder: null })
  expect(readSettings({ DEMO_DB: 'postgres', DEMO_DIR: '/data' }).database).toEqual({
    kind: 'embedded',
    folder: '/data',
  })
  expect(readSettings({ PORT: '8080' }).port).toEqual({ number: 8080, orNext: false })
  expect(readSettings({ DEMO_CITIES: '500' }).cities).toBe(500)
  expect(readSettings({ DEMO_HOST: '::1' }).host).toBe('::1')
  expect(readSettings({ DEMO_SECRET: 'x'.repeat(32) }).secret).toEqual(new TextEncoder().encode('x'.repeat(32)))
})

test.each([
  [{ PORT: 'http' }, 'PORT must be a whole number from 0 to 65535, not "http".'],
  [{ PORT: '65536' }, 'PORT must be a whole number from 0 to 65535, not "65536".'],
  [{ PORT: '-1' }, 'PORT must be a whole number from 0 to 65535, not "-1".'],
  [{ DEMO_DB: 'sqlite' }, 'DEMO_DB must be postgres, pglite or pglite-memory, not "sqlite".'],
  [{ DATABASE_URL: 'mysql://db' }, 'DATABASE_URL must look like postgres://user:password@host:5432/database.'],
  [
    { DATABASE_URL: 'postgres://db/x', DEMO_DB: 'pglite' },
    'DATABASE_URL and DEMO_DB=pglite name two databases: unset one of them.',
  ],
  [{ DEMO_CITIES: 'some' }, 'DEMO_CITIES must be a whole number from 0 to 1000000, not "some".'],
  [{ DEMO_SECRET: 'short' }, 'DEMO_SECRET must have at least 32 bytes.'],
])('%j is refused by name', (env, message) => {
  expect(() => readSettings(env)).toThrow(new DemoError(message))
})
