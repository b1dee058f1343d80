import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ask, problemOf, type Query, Refused } from './client.ts'

/** Data of the API in a view: the latest answer stays while the next one is on its way. */
export interface Data<T> {
  readonly value: T | undefined
  /** Why there is no answer, or only an old one. */
  readonly problem: Refused | undefined
  readonly isLoading: boolean
  reload(): void
  /** Shows a value that an answer to a change already told. */
  replace(value: T): void
}

/** How long an answer may take until the page says so, and what is shown counts as old: milliseconds. */
const slowMs = 2000

/** Asks when one of `reasons` changes and, while the page is seen, every `everyMs`; older answers are dropped. */
export function useData<T>(
  load: (signal: AbortSignal) => Promise<T>,
  reasons: readonly unknown[],
  everyMs?: number,
): Data<T> {
  const [state, setState] = useState<{ value?: T; at?: number; problem?: Refused; isLoading: boolean }>({
    isLoading: true,
  })
  const running = useRef<AbortController | undefined>(undefined)
  const latest = useRef(load)
  latest.current = load
  const reload = useCallback(() => {
    running.current?.abort()
    const controller = new AbortController()
    running.current = controller
    /** Shows why there is no answer, beside the last one with its time. */
    const miss = (problem: Refused, isLoading: boolean) =>
      setState(({ value, at }) => {
        if (at !== undefined) problem.shownFrom = at
        return { ...(value !== undefined && { value }), ...(at !== undefined && { at }), problem, isLoading }
      })
    const slow = setTimeout(
      () => miss(new Refused(0, { error: 'The server is slow to answer', code: 'slow' }), true),
      slowMs,
    )
    controller.signal.addEventListener('abort', () => clearTimeout(slow))
    latest
      .current(controller.signal)
      .then(
        (value) => controller.signal.aborted || setState({ value, at: Date.now(), isLoading: false }),
        (reason: unknown) => controller.signal.aborted || miss(problemOf(reason), false),
      )
      .finally(() => clearTimeout(slow))
  }, [])
  useEffect(() => {
    setState(({ problem: _, ...now }) => ({ ...now, isLoading: true }))
    reload()
    return () => running.current?.abort()
  }, reasons)
  useEffect(() => {
    if (everyMs === undefined) return undefined
    const timer = setInterval(() => document.visibilityState === 'visible' && reload(), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  const replace = useCallback((value: T) => setState({ value, at: Date.now(), isLoading: false }), [])
  return { value: state.value, problem: state.problem, isLoading: state.isLoading, reload, replace }
}

/** A list of the API: `name` is its field in the answer. */
export function useList<T>(path: string, name: string, query: Query = {}, everyMs?: number): Data<readonly T[]> {
  const load = async (signal: AbortSignal) =>
    (await ask<Readonly<Record<string, readonly T[]>>>('GET', path, { query, signal }))[name]!
  return useData(load, [path, ...Object.values(query)], everyMs)
}
