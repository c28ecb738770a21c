import pg from 'pg'

/** A connection beside the app, as psql's would be. */
export interface SqlSession extends AsyncDisposable {
  /** Runs a statement and returns its rows. */
  run<Row extends object = Record<string, unknown>>(text: string, values?: unknown[]): Promise<Row[]>
}

export async function openSql(url: string): Promise<SqlSession> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  return {
    run: async <Row extends object>(text: string, values: unknown[] = []) =>
      (await client.query<Row>(text, values)).rows,
    [Symbol.asyncDispose]: () => client.end(),
  }
}
