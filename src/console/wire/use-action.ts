import { useCallback, useRef, useState } from 'preact/hooks'
import { problemOf, type Refused } from './client.ts'

/** Something that a person starts: it runs once at a time, and its failure is shown where it was started. */
export interface Action<A extends readonly unknown[]> {
  readonly isRunning: boolean
  readonly problem: Refused | undefined
  /** Resolves with true where it succeeded. */
  run(...given: A): Promise<boolean>
  forgetProblem(): void
}

/** An action of a view. */
export function useAction<A extends readonly unknown[]>(work: (...given: A) => Promise<unknown>): Action<A> {
  const [state, setState] = useState<{ isRunning: boolean; problem?: Refused }>({ isRunning: false })
  const latest = useRef(work)
  latest.current = work
  const isBusy = useRef(false)
  const run = useCallback(async (...given: A) => {
    if (isBusy.current) return false
    isBusy.current = true
    setState({ isRunning: true })
    try {
      await latest.current(...given)
      setState({ isRunning: false })
      return true
    } catch (reason) {
      setState({ isRunning: false, problem: problemOf(reason) })
      return false
    } finally {
      isBusy.current = false
    }
  }, [])
  const forgetProblem = useCallback(() => setState({ isRunning: false }), [])
  return { isRunning: state.isRunning, problem: state.problem, run, forgetProblem }
}
