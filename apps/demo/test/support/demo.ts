import { startDemo, type Demo, type DemoOptions } from '../../src/server/start-demo.ts'

/** Cities of an ordinary test: the sample shipments' and some of the largest. */
export const FEW_CITIES = 200

/** Starts the whole server on a free port, on a database of the test's. */
export async function startTestDemo(
  databaseUrl: string,
  options: Partial<Pick<DemoOptions, 'cities' | 'now' | 'log' | 'page' | 'secret'>> = {},
): Promise<Demo> {
  return await startDemo({
    database: { kind: 'given', url: databaseUrl },
    cities: FEW_CITIES,
    host: '127.0.0.1',
    port: { number: 0, orNext: false },
    page: (_request, _response, next) => next(),
    secret: null,
    ...options,
  })
}
