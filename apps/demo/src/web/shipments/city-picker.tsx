import { type JSX, type KeyboardEvent, useEffect, useId, useState } from 'react'
import type { Api } from '../api.ts'
import { countryName, number } from '../format.ts'

/** Typing pauses for this long before the server is asked. */
const QUIET_MS = 120

/** A city as the search finds it. */
export interface City {
  readonly id: number
  readonly name: string
  readonly country: string
  readonly population: number
}

interface CityPickerProps {
  readonly label: string
  readonly value: City | null
  readonly onChange: (city: City | null) => void
  /** What is wrong with the choice. */
  readonly problem: string | null
  readonly api: Api
}

/** A combobox over all cities, after the pattern of the ARIA practices: the list opens while typing, arrows and Enter choose. */
export function CityPicker({ label, value, onChange, problem, api }: CityPickerProps): JSX.Element {
  const id = useId()
  const [text, setText] = useState('')
  const [isOpen, setOpen] = useState(false)
  const [active, setActive] = useState(0)
  const found = useSearch(api, isOpen ? text.trim() : '')
  const shown = isOpen && found.length > 0

  const choose = (city: City): void => {
    onChange(city)
    setOpen(false)
  }
  const type = (typed: string): void => {
    if (value !== null) onChange(null)
    setText(typed)
    setActive(0)
    setOpen(true)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') return setOpen(false)
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      if (shown) setActive((active + step + found.length) % found.length)
      else setOpen(true)
    }
    const city = found[active]
    if (event.key === 'Enter' && shown && city !== undefined) {
      event.preventDefault()
      choose(city)
    }
  }

  return (
    <div className="field city">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        role="combobox"
        autoComplete="off"
        aria-autocomplete="list"
        aria-expanded={shown}
        aria-controls={`${id}-list`}
        aria-activedescendant={shown ? `${id}-${active}` : undefined}
        aria-invalid={problem !== null}
        aria-describedby={`${id}-problem`}
        placeholder="City"
        value={value === null ? text : `${value.name}, ${value.country}`}
        onChange={(event) => type(event.target.value)}
        onKeyDown={onKeyDown}
        onBlur={() => setOpen(false)}
      />
      <ul id={`${id}-list`} role="listbox" aria-label={label} hidden={!shown}>
        {found.map((city, i) => (
          <li
            key={city.id}
            id={`${id}-${i}`}
            role="option"
            aria-selected={i === active}
            // Before the field loses the focus, and with it the list.
            onPointerDown={(event) => {
              event.preventDefault()
              choose(city)
            }}
          >
            <span>
              <strong>{city.name}</strong> {countryName(city.country)}
            </span>
            <small>{number(city.population)}</small>
          </li>
        ))}
      </ul>
      <p id={`${id}-problem`} className="problem">
        {problem}
      </p>
    </div>
  )
}

/** What the search finds for a text; what was found before stays until then. */
function useSearch({ trpc }: Api, text: string): readonly City[] {
  const [found, setFound] = useState<{ readonly text: string; readonly cities: readonly City[] }>({
    text: '',
    cities: [],
  })
  useEffect(() => {
    if (text === '') return
    const abort = new AbortController()
    const timer = setTimeout(() => {
      trpc.cities.search.query({ text }, { signal: abort.signal }).then(
        (cities) => setFound({ text, cities }),
        // The field stays as it is; submitting says that a city is missing.
        () => {},
      )
    }, QUIET_MS)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [trpc, text])
  return text === '' ? [] : found.cities
}
