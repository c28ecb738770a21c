/** Tenants, and scope values of each: rows are dealt out evenly by id. */
export const TENANTS = 20
export const SCOPES = 5

/** Fills a row up to about 200 bytes with its header. */
export const FILLER: string = 'x'.repeat(120)

/** Expressions for the columns of row `id`, about 200 bytes with the header. */
export const rowOf = (id: string): string =>
  `${id}, (${id} % ${TENANTS})::int, ((${id} / ${TENANTS}) % ${SCOPES})::int, 'first title of row ' || ${id}, '${FILLER}'`
