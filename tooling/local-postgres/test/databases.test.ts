import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { TestProject } from 'vitest/node'
import {
  createDatabase,
  createTestDatabase,
  dropDatabase,
  startLocalPostgres,
  type LocalPostgres,
} from '../src/index.ts'
import setUp from '../src/vitest-global-setup.ts'

let server: LocalPostgres

beforeAll(async () => {
  server = await startLocalPostgres({ settings: { fsync: 'off' } })
})
afterAll(async () => {
  await server.stop()
})

function project(): { provided: string[]; asProject: TestProject } {
  const provided: string[] = []
  return { provided, asProject: { provide: (_: string, url: string) => provided.push(url) } as unknown as TestProject }
}

async function names(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ datname: string }>('select datname from pg_database order by 1')
  await client.end()
  return rows.map(({ datname }) => datname)
}

describe('databases', () => {
  it('are copied from a template, and dropped together with what is connected', async () => {
    const template = await createDatabase(server.url, 'Odd "name" 1')
    const client = new pg.Client({ connectionString: template })
    await client.connect()
    await client.query('create table copied (id int)')
    await client.end()

    const database = await createTestDatabase(server.url, { template: 'Odd "name" 1' })
    const connected = new pg.Client({ connectionString: database.url })
    const ended = new Promise<void>((resolve) => connected.on('error', () => {}).once('end', resolve))
    await connected.connect()
    expect((await connected.query('select * from copied')).rows).toEqual([])
    await database.drop()
    await database.drop()
    await ended
    await dropDatabase(server.url, 'Odd "name" 1')
    expect(await names(server.url)).toEqual(['postgres', 'template0', 'template1'])
  })

  it('are dropped without an error for a session that is just ending', async () => {
    const database = await createTestDatabase(server.url)
    const client = new pg.Client({ connectionString: database.url })
    const errors: Error[] = []
    client.on('error', (error) => errors.push(error))
    await client.connect()
    const dropping = database.drop()
    await client.query('select pg_sleep(0.2)')
    await client.end()
    await dropping
    expect(errors).toEqual([])
    expect(await names(server.url)).not.toContain(database.name)
  })
})

describe('the run’s server', () => {
  it('is the one of TEST_DATABASE_URL, when given, and is left running', async () => {
    vi.stubEnv('TEST_DATABASE_URL', server.url)
    const { provided, asProject } = project()
    const release = await setUp(asProject)
    await release()
    expect(provided).toEqual([server.url])
    expect(await names(server.url)).toContain('postgres')
  })

  it('is named in one message, without its password, when it does not answer', async () => {
    vi.stubEnv('TEST_DATABASE_URL', 'postgres://somebody:secret@127.0.0.1:1/app')
    const message = await setUp(project().asProject).then(
      () => '',
      (error: Error) => error.message,
    )
    expect(message).toContain('TEST_DATABASE_URL')
    expect(message).toContain('ECONNREFUSED')
    expect(message).not.toContain('secret')
  })

  it('is one for all projects, and stops with the last of them', async () => {
    vi.stubEnv('TEST_DATABASE_URL', '')
    vi.stubEnv('TIDEMARK_TEST_PG', 'embedded')
    const first = project()
    const second = project()
    const releases = await Promise.all([setUp(first.asProject), setUp(second.asProject)])
    const [url] = first.provided
    expect(second.provided).toEqual([url])
    await releases[0]()
    expect(await names(url ?? '')).toContain('postgres')
    await releases[1]()
    await expect(names(url ?? '')).rejects.toThrow('ECONNREFUSED')
  })

  it('is refused by name when the choice is none', async () => {
    vi.stubEnv('TEST_DATABASE_URL', '')
    vi.stubEnv('TIDEMARK_TEST_PG', '14')
    await expect(setUp(project().asProject)).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  })
})
