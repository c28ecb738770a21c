/** `true` when the types are the same for the compiler, `any` included. */
export type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** Does not compile unless its argument is the type `true`. */
export function check<_T extends true>(): void {}
