import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Problem } from '../components/notice.tsx'
import { problemOf, type Refused } from '../wire/client.ts'

/** A component whose file is fetched when it is first shown. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let Loaded: ComponentType<P> | undefined
  return function Lazy(props: P) {
    const [problem, setProblem] = useState<Refused>()
    const [, setReady] = useState(Loaded !== undefined)
    useEffect(() => {
      if (Loaded) return
      load().then(
        (component) => {
          Loaded = component
          setReady(true)
        },
        // After an update of the server the old files are gone: a reload of the page fetches the new ones.
        (reason: unknown) => setProblem(problemOf(reason)),
      )
    }, [])
    if (problem) return <Problem of={problem} />
    return Loaded ? <Loaded {...props} /> : null
  }
}
