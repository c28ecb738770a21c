/** The tenants of the demo. Their ids are what `company_id` holds and what the token's `company` claim says. */
export const companies = [
  { id: 'harbour-dale', name: 'Harbour & Dale Freight', home: 'Rotterdam', prefix: 'HD' },
  { id: 'altiplano', name: 'Altiplano Cargo', home: 'São Paulo', prefix: 'AC' },
] as const

export type Company = (typeof companies)[number]
export type CompanyId = Company['id']

/** The company of an id, if it is one. */
export function findCompany(id: unknown): Company | undefined {
  return companies.find((company) => company.id === id)
}
