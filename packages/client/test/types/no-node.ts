// Checked with `src` by tsconfig.src.json: were Node's types to leak in (through a dependency's types), these lines
// would compile and fail here.

// @ts-expect-error the client knows no Node global
export const leakedProcess: unknown = process
// @ts-expect-error the client knows no Node global
export const leakedBuffer: unknown = Buffer
