import { randomBytes } from 'node:crypto'
import { type Bed, quoted } from './bed.ts'

export interface TestRole extends AsyncDisposable {
  readonly name: string
  readonly password: string
}

/**
 * A role for one test. Roles belong to the whole server, so its name is random.
 *
 * @param rights by schema or table of `app`: `{ app: 'usage', tasks: 'insert, update' }`
 */
export async function withRole(
  bed: Bed,
  rights: Readonly<Record<string, string>> = {},
  attributes = '',
): Promise<TestRole> {
  const name = `tidemark_test_${randomBytes(4).toString('hex')}`
  const password = randomBytes(8).toString('hex')
  await bed.sql(`create role ${name} login password '${password}' ${attributes}`)
  for (const [object, granted] of Object.entries(rights)) {
    await bed.sql(`grant ${granted} on ${object === 'app' ? 'schema app' : `app.${quoted(object)}`} to ${name}`)
  }
  return {
    name,
    password,
    [Symbol.asyncDispose]: async () => {
      await bed.sql(`drop owned by ${name} cascade; drop role ${name}`)
    },
  }
}
