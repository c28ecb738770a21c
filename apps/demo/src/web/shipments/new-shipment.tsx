import { type JSX, type SubmitEvent, useId, useState } from 'react'
import type { Api } from '../api.ts'
import { useAction } from '../hooks/use-action.ts'
import { type City, CityPicker } from './city-picker.tsx'

const LEAST_KG = 1
const MOST_KG = 100_000

/** The form for a new shipment. */
export function NewShipment({ api }: { readonly api: Api }): JSX.Element {
  const [origin, setOrigin] = useState<City | null>(null)
  const [destination, setDestination] = useState<City | null>(null)
  const [cargo, setCargo] = useState('')
  const [weight, setWeight] = useState('')
  // Faults are shown once somebody has tried, and go away as they are mended.
  const [tried, setTried] = useState(false)
  const [booked, setBooked] = useState<string | null>(null)
  const [round, setRound] = useState(0)
  const id = useId()

  const weightKg = /^\d{1,6}$/.test(weight.trim()) ? Number(weight) : Number.NaN
  const problems = {
    origin: origin === null ? 'Choose a city from the list' : null,
    destination:
      destination === null
        ? 'Choose a city from the list'
        : destination.id === origin?.id
          ? 'Choose another city than the origin'
          : null,
    cargo: cargo.trim() === '' ? 'Say what is sent' : null,
    weight: weightKg >= LEAST_KG && weightKg <= MOST_KG ? null : '1 to 100,000',
  }
  const shown = (problem: string | null): string | null => (tried ? problem : null)

  const book = useAction(async () => {
    setBooked(null)
    if (origin === null || destination === null) return
    const created = await api.trpc.shipments.create.mutate({
      originId: origin.id,
      destinationId: destination.id,
      cargo,
      weightKg,
    })
    setBooked(created.id)
    setTried(false)
    setOrigin(null)
    setDestination(null)
    setCargo('')
    setWeight('')
    setRound(round + 1)
    api.sync.poll()
  })
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    setTried(true)
    if (Object.values(problems).every((problem) => problem === null)) return book.run()
    const form = event.currentTarget
    // Once the faults are shown.
    requestAnimationFrame(() => form.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus())
  }

  return (
    <section className="card new-shipment" aria-labelledby={`${id}-heading`}>
      <div className="head">
        <h2 id={`${id}-heading`}>New shipment</h2>
        <p className="booked" role="status">
          {booked === null ? '' : `Shipment #${booked} is booked.`}
        </p>
      </div>
      <form onSubmit={submit} noValidate>
        <CityPicker
          key={`from ${round}`}
          label="From"
          value={origin}
          onChange={setOrigin}
          problem={shown(problems.origin)}
          api={api}
        />
        <CityPicker
          key={`to ${round}`}
          label="To"
          value={destination}
          onChange={setDestination}
          problem={shown(problems.destination)}
          api={api}
        />
        <div className="field">
          <label htmlFor={`${id}-cargo`}>Cargo</label>
          <input
            id={`${id}-cargo`}
            value={cargo}
            maxLength={80}
            placeholder="What is sent"
            aria-invalid={shown(problems.cargo) !== null}
            aria-describedby={`${id}-cargo-problem`}
            onChange={(event) => setCargo(event.target.value)}
          />
          <p id={`${id}-cargo-problem`} className="problem">
            {shown(problems.cargo)}
          </p>
        </div>
        <div className="field weight">
          <label htmlFor={`${id}-weight`}>Weight, kg</label>
          <input
            id={`${id}-weight`}
            value={weight}
            inputMode="numeric"
            maxLength={6}
            placeholder="1200"
            aria-invalid={shown(problems.weight) !== null}
            aria-describedby={`${id}-weight-problem`}
            onChange={(event) => setWeight(event.target.value)}
          />
          <p id={`${id}-weight-problem`} className="problem">
            {shown(problems.weight)}
          </p>
        </div>
        <button type="submit" className="main" disabled={book.busy}>
          Book shipment
        </button>
      </form>
      {book.error !== null && (
        <p className="notice bad" role="alert">
          Not booked: {book.error}.
        </p>
      )}
    </section>
  )
}
