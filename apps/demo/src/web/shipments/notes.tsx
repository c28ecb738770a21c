import { useTableVersion } from '@tidemark/client/react'
import { type JSX, type SubmitEvent, useCallback, useId, useState } from 'react'
import type { Api } from '../api.ts'
import { dayTime } from '../format.ts'
import { useAction } from '../hooks/use-action.ts'
import { useLoaded } from '../hooks/use-loaded.ts'

interface NotesProps {
  readonly shipmentId: string
  readonly api: Api
}

/** The notes of one shipment, and a field for the next. */
export function Notes({ shipmentId, api }: NotesProps): JSX.Element {
  const { trpc, sync } = api
  const load = useCallback(
    (signal: AbortSignal) => trpc.notes.list.query({ shipmentId }, { signal }),
    [trpc, shipmentId],
  )
  const { data, error } = useLoaded(load, useTableVersion(sync, 'notes'))
  const [body, setBody] = useState('')
  const field = useId()
  const add = useAction(async () => {
    await trpc.notes.add.mutate({ shipmentId, body })
    setBody('')
    sync.poll()
  })
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    add.run()
  }
  const problem = error ?? add.error
  return (
    <>
      {data !== undefined && (
        <ul aria-label={`Notes of shipment ${shipmentId}`}>
          {data.map((note) => (
            <li key={note.id}>
              {note.body} <time dateTime={note.createdAt.toISOString()}>{dayTime(note.createdAt)}</time>
            </li>
          ))}
        </ul>
      )}
      {problem !== null && (
        <p className="notice bad" role="alert">
          {problem}.
        </p>
      )}
      <form onSubmit={submit}>
        <label className="visually-hidden" htmlFor={field}>
          New note on shipment {shipmentId}
        </label>
        <input
          id={field}
          value={body}
          onChange={(event) => setBody(event.target.value)}
          maxLength={500}
          required
          placeholder="Add a note"
        />
        <button type="submit" disabled={add.busy || body.trim() === ''}>
          Add<span className="visually-hidden"> note</span>
        </button>
      </form>
    </>
  )
}
