import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ask, path, problemOf, type Refused } from '../../../wire/client.ts'
import type { Memory } from '../../../wire/types.ts'

/** Memories of one answer. */
const pageSize = 100

/** A persona's memories, fetched page by page as they are looked at. */
export function useMemories(persona: string) {
  const pages = useRef(new Map<number, readonly Memory[] | undefined>())
  const [state, setState] = useState<{ total?: number; problem?: Refused; version: number }>({ version: 0 })

  const fetchPage = useCallback(
    (page: number) => {
      const current = pages.current
      if (current.has(page)) return
      current.set(page, undefined)
      const query = { limit: pageSize, offset: page * pageSize }
      ask<{ memories: readonly Memory[]; total: number }>('GET', path`/api/personas/${persona}/memory`, { query }).then(
        ({ memories, total }) => {
          current.set(page, memories)
          if (current === pages.current) setState(({ version }) => ({ total, version }))
        },
        (reason: unknown) => {
          current.delete(page)
          setState((now) => ({ ...now, problem: problemOf(reason) }))
        },
      )
    },
    [persona],
  )

  const reload = useCallback(() => {
    pages.current = new Map()
    setState((now) => ({ ...now, version: now.version + 1 }))
    fetchPage(0)
  }, [fetchPage])

  useEffect(reload, [reload])

  /** Fetches the pages of these places where they are missing. */
  const want = useCallback(
    (first: number, last: number) => {
      for (let page = Math.floor(first / pageSize); page <= Math.floor(last / pageSize); page++) fetchPage(page)
    },
    [fetchPage],
  )

  return {
    /** Undefined until the first answer. */
    total: state.total,
    problem: state.problem,
    /** Another number after each change. */
    version: state.version,
    /** The memory at a place of the list, once it is there. */
    at: (index: number) => pages.current.get(Math.floor(index / pageSize))?.[index % pageSize],
    want,
    reload,
  }
}
