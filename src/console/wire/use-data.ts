import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ask, problemOf, type Query, type Refused } from './client.ts'

/** Data of the API in a view: the latest answer stays while the next one is on its way. */
export interface Data<T> {
  readonly value: T | undefined
  readonly problem: Refused | undefined
  readonly isLoading: boolean
  /** Asks again. */
  reload(): void
  /** Shows a value that an answer to a change already told. */
  replace(value: T): void
}

/**
 * Asks whenever one of `reasons` changes, and each `everyMs` milliseconds while the page is seen. An answer to an older
 * question is dropped.
 */
export function useData<T>(
  load: (signal: AbortSignal) => Promise<T>,
  reasons: readonly unknown[],
  everyMs?: number,
): Data<T> {
  const [state, setState] = useState<{ value?: T; problem?: Refused; isLoading: boolean }>({ isLoading: true })
  const running = useRef<AbortController | undefined>(undefined)
  const latest = useRef(load)
  latest.current = load
  const reload = useCallback(() => {
    running.current?.abort()
    const controller = new AbortController()
    running.current = controller
    latest.current(controller.signal).then(
      (value) => controller.signal.aborted || setState({ value, isLoading: false }),
      (reason: unknown) => {
        if (controller.signal.aborted) return
        setState(({ value }) => ({
          ...(value !== undefined && { value }),
          problem: problemOf(reason),
          isLoading: false,
        }))
      },
    )
  }, [])
  useEffect(() => {
    setState(({ value }) => ({ ...(value !== undefined && { value }), isLoading: true }))
    reload()
    return () => running.current?.abort()
  }, reasons)
  useEffect(() => {
    if (everyMs === undefined) return undefined
    const timer = setInterval(() => document.visibilityState === 'visible' && reload(), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  const replace = useCallback((value: T) => setState({ value, isLoading: false }), [])
  return { value: state.value, problem: state.problem, isLoading: state.isLoading, reload, replace }
}

/** A list of the API: `name` is its field in the answer. */
export function useList<T>(path: string, name: string, query: Query = {}, everyMs?: number): Data<readonly T[]> {
  const load = async (signal: AbortSignal) =>
    (await ask<Readonly<Record<string, readonly T[]>>>('GET', path, { query, signal }))[name]!
  return useData(load, [path, ...Object.values(query)], everyMs)
}
