import { act, StrictMode, createElement, type ReactNode } from 'react'
import { createRoot } from 'react-dom/client'
import { settle } from './fake-environment.ts'

declare global {
  var IS_REACT_ACT_ENVIRONMENT: boolean
}

export interface Rendered extends AsyncDisposable {
  readonly text: () => string
  readonly render: (node: ReactNode) => Promise<void>
  readonly unmount: () => Promise<void>
}

/** Runs `work` and everything that follows from it without time passing. */
export async function during(work: () => unknown): Promise<void> {
  await act(async () => {
    await work()
    await settle()
  })
}

/** Renders in StrictMode into a page of its own: effects mount, unmount and mount again. */
export async function render(node: ReactNode): Promise<Rendered> {
  globalThis.IS_REACT_ACT_ENVIRONMENT = true
  const container = document.createElement('div')
  const root = createRoot(container)
  const rendered: Rendered = {
    text: () => container.textContent ?? '',
    render: async (next) => await during(() => root.render(createElement(StrictMode, null, next))),
    unmount: async () => await during(() => root.unmount()),
    [Symbol.asyncDispose]: async () => await rendered.unmount(),
  }
  await rendered.render(node)
  return rendered
}
