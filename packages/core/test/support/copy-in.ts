import pg from 'pg'

/** What `pg` calls on a query object, as far as COPY FROM STDIN needs it. */
interface CopyConnection {
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}

/** Sends `text` by `copy … from stdin` over the wire, as psql's `\copy` does. */
export async function copyIn(url: string, options: string, target: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, options })
  client.on('error', () => {})
  await client.connect()
  try {
    await new Promise<void>((resolve, reject) => {
      client.query({
        submit: (connection: unknown) => (connection as CopyConnection).query(`copy ${target} from stdin`),
        handleCopyInResponse: (connection: CopyConnection) => {
          connection.sendCopyFromChunk(Buffer.from(text))
          connection.endCopyFrom()
        },
        handleCommandComplete: () => {},
        handleError: reject,
        handleReadyForQuery: () => resolve(),
      } as pg.Submittable)
    })
  } finally {
    await client.end()
  }
}
