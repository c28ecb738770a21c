import { expectTypeOf } from 'vitest'
import type { AnyTidemarkError, InvalidInputError, LockTimeoutError, TidemarkErrorCode } from '../../src/index.ts'
import { TidemarkError } from '../../src/index.ts'
import type * as core from '../../src/index.ts'

// Every exported error class is in the union, so that handling by code can be exhaustive.
type Classes = Extract<(typeof core)[keyof typeof core], { readonly code: string; readonly prototype: unknown }>
expectTypeOf<Classes['prototype']>().toEqualTypeOf<AnyTidemarkError>()
expectTypeOf<AnyTidemarkError['code']>().toEqualTypeOf<TidemarkErrorCode>()
expectTypeOf<string>().not.toExtend<TidemarkErrorCode>()

// The code tells the class, and with it the data.
declare const error: AnyTidemarkError
if (error.code === 'invalidInput') expectTypeOf(error).toEqualTypeOf<InvalidInputError>()
if (error.code === 'lockTimeout') expectTypeOf(error).toEqualTypeOf<LockTimeoutError>()
if (error.code === 'insufficientRights') expectTypeOf(error.steps).toEqualTypeOf<readonly string[]>()
expectTypeOf<typeof InvalidInputError.code>().toEqualTypeOf<'invalidInput'>()
expectTypeOf<AnyTidemarkError>().toExtend<TidemarkError>()
expectTypeOf<AnyTidemarkError['category']>().toEqualTypeOf<'input' | 'configuration' | 'availability'>()
// @ts-expect-error -- the base class is not made
void new TidemarkError('x')
