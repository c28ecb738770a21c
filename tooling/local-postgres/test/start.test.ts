import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LocalPostgresError, startLocalPostgres, type LocalPostgresErrorCode } from '../src/index.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidemark-start-test-'))
  await chmod(folder, 0o755)
})
afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

async function codeOf(promise: Promise<unknown>): Promise<[LocalPostgresErrorCode, string]> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof LocalPostgresError)) throw new Error('no LocalPostgresError', { cause: error })
  return [error.code, error.message]
}

describe('a server of one’s own', () => {
  it('is Postgres 18, syncs to disk, allows prepared transactions, and leaves nothing behind', async () => {
    const server = await startLocalPostgres()
    const [row] = await query(
      server.url,
      `select current_setting('server_version_num')::int / 10000 as major, current_setting('fsync') as fsync,
        current_setting('max_prepared_transactions')::int as prepared, current_setting('timezone') as zone,
        pg_encoding_to_char(encoding) as encoding from pg_database where datname = current_database()`,
    )
    expect(row).toEqual({ major: 18, fsync: 'on', prepared: 64, zone: 'UTC', encoding: 'UTF8' })
    expect(server.major).toBe(18)
    await server.stop()
    await server.stop()
    expect(existsSync(server.dataDir)).toBe(false)
    await expect(query(server.url, 'select 1')).rejects.toThrow('ECONNREFUSED')
  })

  it('runs beside others, each with its own settings and password', async () => {
    const servers = await Promise.all([startLocalPostgres({ settings: { fsync: 'off' } }), startLocalPostgres()])
    try {
      const answers = await Promise.all(
        servers.map(({ url }) => query(url, `select current_setting('fsync') as fsync`)),
      )
      expect(answers).toEqual([[{ fsync: 'off' }], [{ fsync: 'on' }]])
      const foreign = new URL(servers[0].url)
      foreign.password = new URL(servers[1].url).password
      await expect(query(foreign.href, 'select 1')).rejects.toThrow('password authentication failed')
    } finally {
      await Promise.all(servers.map((server) => server.stop()))
    }
  })

  it('listens on 127.0.0.1 only', async () => {
    await using server = await startLocalPostgres()
    expect(
      await query(
        server.url,
        `select current_setting('listen_addresses') as hosts, current_setting('unix_socket_directories') as sockets`,
      ),
    ).toEqual([{ hosts: '127.0.0.1', sockets: '' }])
    const others = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .filter(({ internal, family }) => !internal && family === 'IPv4')
    for (const { address } of others) {
      const elsewhere = new URL(server.url)
      elsewhere.hostname = address
      await expect(query(elsewhere.href, 'select 1')).rejects.toThrow('ECONNREFUSED')
    }
  })

  it('keeps its data in a folder that was named, and its connection string with a port that was named', async () => {
    const dataDir = join(folder, 'cluster')
    const first = await startLocalPostgres({ dataDir })
    await query(first.url, 'create table kept (id int); insert into kept values (7)')
    await first.stop()
    await using second = await startLocalPostgres({ dataDir, port: first.port })
    expect(second.url).toBe(first.url)
    expect(await query(second.url, 'select id from kept')).toEqual([{ id: 7 }])
  })
})

describe('a clear error', () => {
  it('for a port that is taken or is none', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const address = other.address()
    const port = address !== null && typeof address === 'object' ? address.port : 0
    try {
      expect(await codeOf(startLocalPostgres({ port }))).toEqual(['PORT_IN_USE', expect.stringContaining(String(port))])
    } finally {
      other.close()
    }
    expect(await codeOf(startLocalPostgres({ port: 70_000 }))).toEqual([
      'INVALID_OPTION',
      expect.stringContaining('"port"'),
    ])
  })

  it('for a port where another server answers, which would have let us in', async () => {
    await using other = await startLocalPostgres({ initdbArgs: ['--auth=trust'] })
    const { port } = other
    expect(await codeOf(startLocalPostgres({ port }))).toEqual(['PORT_IN_USE', expect.stringContaining(String(port))])
  })

  it('for a folder that holds something else, which stays as it is', async () => {
    await writeFile(join(folder, 'letter.txt'), 'dear')
    expect(await codeOf(startLocalPostgres({ dataDir: folder }))).toEqual([
      'DATA_DIR_FOREIGN',
      expect.stringContaining('not empty'),
    ])
    expect(existsSync(join(folder, 'letter.txt'))).toBe(true)
    const old = join(folder, 'old')
    await mkdir(old)
    await writeFile(join(old, 'PG_VERSION'), '9\n')
    expect(await codeOf(startLocalPostgres({ dataDir: old }))).toEqual([
      'DATA_DIR_FOREIGN',
      expect.stringContaining('Postgres 9'),
    ])
  })

  it('for a cluster that would be removed on stop though it was there before', async () => {
    const dataDir = join(folder, 'cluster')
    await (await startLocalPostgres({ dataDir })).stop()
    expect(await codeOf(startLocalPostgres({ dataDir, persist: false }))).toEqual([
      'DATA_DIR_FOREIGN',
      expect.stringContaining('"persist: false"'),
    ])
    expect(existsSync(join(dataDir, 'PG_VERSION'))).toBe(true)
  })

  it('for a setting the server refuses, with the server’s own words', async () => {
    expect(await codeOf(startLocalPostgres({ settings: { work_mem: 'plenty' } }))).toEqual([
      'START_FAILED',
      expect.stringContaining('work_mem'),
    ])
  })

  it('for programs that are not installed, naming the Debian package', async () => {
    process.env['TIDEMARK_PG_BIN'] = folder
    try {
      expect(await codeOf(startLocalPostgres({ version: 15 }))).toEqual([
        'PROGRAM_MISSING',
        expect.stringContaining('postgresql-15'),
      ])
    } finally {
      delete process.env['TIDEMARK_PG_BIN']
    }
  })
})
