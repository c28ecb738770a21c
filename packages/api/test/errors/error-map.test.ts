import {
  DeclarationConflictError,
  InsufficientRightsError,
  InvalidCursorError,
  InvalidInputError,
  InvalidTenantError,
  IsolationLevelError,
  LockTimeoutError,
  NotMigratedError,
  SchemaTooNewError,
  StandbyError,
  TidemarkError,
  UnknownTableError,
  UnsupportedColumnError,
  UnsupportedTableError,
  WritingTransactionError,
} from '@tidemark/core'
import type { AnyTidemarkError, TidemarkErrorCode } from '@tidemark/core'
import { TRPCError } from '@trpc/server'
import { describe, expect, test } from 'vitest'
import { safeMessages, trpcCodes, wireCodes } from '../../src/errors/error-map.ts'
import { tidemarkErrorShape } from '../../src/errors/error-shape.ts'
import { SyncError } from '../../src/errors/sync-error.ts'
import { toSyncError } from '../../src/errors/to-sync-error.ts'
import { originalError } from '../../src/index.ts'

/** One error of each code of core; total, so that a new code must be added here. */
const samples: Record<TidemarkErrorCode, AnyTidemarkError> = {
  invalidInput: new InvalidInputError('limit', 'must be small'),
  invalidCursor: new InvalidCursorError(),
  invalidTenant: new InvalidTenantError(),
  unknownTable: new UnknownTableError('tables[0]'),
  unsupportedTable: new UnsupportedTableError('secret_table', 'is a view'),
  unsupportedColumn: new UnsupportedColumnError('secret_table', 'secret_column', 'is virtual'),
  declarationConflict: new DeclarationConflictError('secret_table', 'other key'),
  notMigrated: new NotMigratedError('schema "secret_schema" is missing'),
  schemaTooNew: new SchemaTooNewError(9, 3),
  insufficientRights: new InsufficientRightsError('role secret_role may not', ['grant all on secret_table']),
  writingTransaction: new WritingTransactionError(),
  isolationLevel: new IsolationLevelError(),
  standby: new StandbyError(),
  lockTimeout: new LockTimeoutError('secret_table'),
}

const expected: Record<TidemarkErrorCode, [wire: string, trpc: string, retryable: boolean]> = {
  invalidInput: ['invalidInput', 'BAD_REQUEST', false],
  invalidCursor: ['invalidCursor', 'BAD_REQUEST', false],
  invalidTenant: ['invalidTenant', 'UNAUTHORIZED', false],
  unknownTable: ['unknownTable', 'BAD_REQUEST', false],
  unsupportedTable: ['internal', 'INTERNAL_SERVER_ERROR', true],
  unsupportedColumn: ['internal', 'INTERNAL_SERVER_ERROR', true],
  declarationConflict: ['internal', 'INTERNAL_SERVER_ERROR', true],
  notMigrated: ['notMigrated', 'SERVICE_UNAVAILABLE', true],
  schemaTooNew: ['schemaTooNew', 'SERVICE_UNAVAILABLE', true],
  insufficientRights: ['internal', 'INTERNAL_SERVER_ERROR', true],
  writingTransaction: ['internal', 'INTERNAL_SERVER_ERROR', true],
  isolationLevel: ['internal', 'INTERNAL_SERVER_ERROR', true],
  standby: ['standby', 'SERVICE_UNAVAILABLE', true],
  lockTimeout: ['lockTimeout', 'SERVICE_UNAVAILABLE', true],
}

describe.each(Object.entries(samples))('%s of core', (code, error) => {
  const [wire, trpc, retryable] = expected[code as TidemarkErrorCode]

  test.each([
    ['thrown', error],
    ['wrapped by tRPC', new TRPCError({ code: 'INTERNAL_SERVER_ERROR', cause: error })],
    ['wrapped by the reading of the input', new TRPCError({ code: 'BAD_REQUEST', cause: error })],
  ])('%s', (_, thrown) => {
    const sent = toSyncError(thrown)
    expect(sent.tidemark).toMatchObject({ code: wire, retryable })
    expect(sent.code).toBe(trpc)
    expect(sent.message).not.toMatch(/secret/)
    expect(sent.message).toBe(trpc === 'BAD_REQUEST' ? error.message : safeMessages[sent.tidemark.code])
    expect(sent.tidemark.field).toBe(trpc === 'BAD_REQUEST' ? (error as InvalidInputError).field : undefined)
    expect(originalError(sent)).toBe(error)
    expect([sent.stack, sent.cause]).toEqual([undefined, undefined])
  })
})

test('a code that core does not declare is internal', () => {
  class NewError extends TidemarkError {
    readonly code = 'constructor'
    readonly category = 'input'
  }
  const error = new NewError('secret')
  expect(toSyncError(error)).toMatchObject({ code: 'INTERNAL_SERVER_ERROR', message: safeMessages.internal })
})

test.each([
  new Error('secret'),
  'secret',
  undefined,
  null,
  5,
  { message: 'secret' },
  Object.assign(new Error('secret'), { code: 'invalidInput', field: 'secret' }),
])('anything else (%s) is internal', (thrown) => {
  const sent = toSyncError(thrown)
  expect(sent.tidemark).toEqual({ code: 'internal', retryable: true })
  expect(JSON.stringify(sent) + sent.message).not.toContain('secret')
  expect(originalError(sent)).toBe(thrown === undefined ? sent : thrown)
})

test('the maps hold the same codes', () => {
  expect(Object.keys(safeMessages).sort()).toEqual(Object.keys(trpcCodes).sort())
  for (const code of Object.values(wireCodes)) expect(trpcCodes).toHaveProperty(code)
})

describe('tidemarkErrorShape', () => {
  const shape = {
    message: 'm',
    code: -32600 as const,
    data: { code: 'BAD_REQUEST' as const, httpStatus: 400, requestId: 'r' },
  }

  test('adds our data to what the app sends', () => {
    const error = new SyncError('invalidInput', { field: 'limit', cause: new Error('secret') })
    expect(tidemarkErrorShape({ error, shape })).toEqual({
      ...shape,
      data: { ...shape.data, tidemark: { code: 'invalidInput', retryable: false, field: 'limit' } },
    })
  })

  test("says null for the app's own errors", () => {
    const error = new TRPCError({ code: 'BAD_REQUEST' })
    expect(tidemarkErrorShape({ error, shape })).toEqual({ ...shape, data: { ...shape.data, tidemark: null } })
  })
})
