import type { Demo } from './start-demo.ts'

const EXAMPLE = `update shipments set status = 'delivered' where status = 'in_transit'`

/** What is printed once the demo runs. */
export function announcement({ url, database, preparation }: Demo, seconds: number): string {
  const { citiesWritten, citiesMs } = preparation
  const cities =
    citiesWritten === null
      ? []
      : [
          `${citiesWritten.toLocaleString('en')} cities written by bulk SQL in ${(citiesMs / 1000).toFixed(1)} s; the next start is faster.`,
          '',
        ]
  return [
    '',
    ...cities,
    `Freight dispatch runs (started in ${seconds.toFixed(1)} s).`,
    '',
    `  Page       ${url}`,
    ...(database.url === null
      ? withoutConnection(database.dataFolder)
      : withConnection(database.url, database.dataFolder)),
    '',
    'Open the page twice, as the same company and as the other. Ctrl-C stops it.',
    '',
  ].join('\n')
}

function withConnection(url: string, dataFolder: string | null): string[] {
  return [
    `  Database   psql '${url}'`,
    `             for example: ${EXAMPLE};`,
    '  No psql?   npx -y pnpm@10.34.9 demo:seed   (in a second terminal: writes from another process)',
    ...(dataFolder === null
      ? []
      : [`  Data       ${dataFolder}   (while it is stopped, remove this folder to begin anew)`]),
  ]
}

function withoutConnection(dataFolder: string | null): string[] {
  return [
    `  Database   PGlite, inside this process, ${dataFolder === null ? 'in memory: gone when it stops' : dataFolder}`,
    '',
    'What PGlite cannot show:',
    '  - writes from elsewhere: no psql, no seed script, no second process can connect to it',
    '  - writers at the same time: it has one connection, so all wait for one another',
    'Two tabs follow each other as on a server. Without DEMO_DB=pglite the demo starts a Postgres of its own.',
  ]
}
