import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { Problem } from '../components/notice.tsx'
import { Refused } from '../wire/client.ts'

/** A component with code that is fetched when it is first shown. */
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
        // The server is away, or was updated and the old files are gone: a reload fetches the new ones.
        () => setProblem(new Refused(0, { error: 'This part of the page cannot be fetched' })),
      )
    }, [])
    if (problem)
      return (
        <>
          <Problem of={problem} />
          <p>
            <Button icon="refresh" onClick={() => location.reload()}>
              Load the page again
            </Button>
          </p>
        </>
      )
    return Loaded ? <Loaded {...props} /> : null
  }
}
