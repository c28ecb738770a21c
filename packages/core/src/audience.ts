import type { Tenancy } from './declaration.ts'
import { InvalidInputError } from './errors.ts'

declare const audienceBrand: unique symbol

/**
 * Whose changes a read may see. Made only by {@link tenant}, {@link globalOnly} and {@link allTenants}; there is no
 * default and no way to read without one (docs/glossary.md, "audience").
 */
export type Audience = TenantAudience | GlobalAudience | AllTenantsAudience

/** One tenant's rows and the global rows. */
export interface TenantAudience {
  readonly kind: 'tenant'
  /** The tenant as given; cast by Postgres to the tenant columns' type before it is compared. */
  readonly tenant: string
  readonly [audienceBrand]: true
}

/** Global rows only. */
export interface GlobalAudience {
  readonly kind: 'global'
  readonly [audienceBrand]: true
}

/** Every tenant's rows. For server code only. */
export interface AllTenantsAudience {
  readonly kind: 'all'
  readonly reason: string
  readonly [audienceBrand]: true
}

const made = new WeakSet<object>()

function make<A extends Audience>(value: Omit<A, typeof audienceBrand>): A {
  const audience = Object.freeze(value) as A
  made.add(audience)
  return audience
}

/**
 * The audience of one tenant: its own and the global rows.
 *
 * @param id the tenant, from a verified token. Numbers and bigints are accepted for integer columns.
 * @throws {InvalidInputError} when `id` is empty, not finite, or not a string, number or bigint. That Postgres cannot cast it
 *   to the tenant type is found at the read, as `InvalidTenantError`.
 */
export function tenant(id: string | number | bigint): TenantAudience {
  if (typeof id === 'number' && !Number.isSafeInteger(id)) {
    throw new InvalidInputError('tenant', 'a number must be a safe integer; pass larger ones as bigint or string')
  }
  if (typeof id !== 'string' && typeof id !== 'number' && typeof id !== 'bigint') {
    throw new InvalidInputError('tenant', 'must be a string, number or bigint taken from a verified token')
  }
  const text = String(id)
  if (text === '' || Buffer.byteLength(text) > 1024 || text.includes('\0') || /\p{Surrogate}/u.test(text)) {
    throw new InvalidInputError('tenant', 'must be well-formed text of 1 to 1,024 bytes without NUL')
  }
  return make<TenantAudience>({ kind: 'tenant', tenant: text })
}

/**
 * The audience of global rows only: tables declared with `tenant: null`, and all tables of a feed with `tenancy: 'none'`. Table-level entries
 * that concern all tenants of a table are among them.
 */
export const globalOnly: GlobalAudience = make<GlobalAudience>({ kind: 'global' })

/**
 * The audience of every tenant at once, for server code such as an outbox or a search indexer. Changes then carry their tenant.
 * No procedure of `@tidemark/api` hands it out.
 *
 * @param reason why this code may read every tenant, for whoever reviews the call; 1 to 200 characters.
 * @throws {InvalidInputError} when there is none.
 */
export function allTenants(reason: string): AllTenantsAudience {
  if (typeof reason !== 'string' || reason.trim() === '' || reason.length > 200) {
    throw new InvalidInputError('reason', 'say in 1 to 200 characters why this code reads every tenant')
  }
  return make<AllTenantsAudience>({ kind: 'all', reason })
}

/** Whether `value` was made by this module; a look-alike object from a request body is not. */
export function isAudience(value: unknown): value is Audience {
  return typeof value === 'object' && value !== null && made.has(value)
}

/** Refuses a tenant's audience in a feed without tenants. */
export function requireTenancy(audience: Audience, tenancy: Tenancy): void {
  if (tenancy === 'none' && audience.kind === 'tenant') {
    throw new InvalidInputError('audience', "a feed with tenancy: 'none' has no tenants; use globalOnly")
  }
}
