import type { JSX } from 'react'

/** Two tide lines. */
export function Logo(): JSX.Element {
  return (
    <svg className="logo" viewBox="0 0 32 32" aria-hidden="true">
      <path d="M3 11c4.300 0 4.300 4 8.700 4s4.300-4 8.600-4 4.300 4 8.700 4" />
      <path d="M3 20c4.300 0 4.300 4 8.700 4s4.300-4 8.600-4 4.300 4 8.700 4" />
    </svg>
  )
}
