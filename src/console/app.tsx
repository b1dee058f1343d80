import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { Button } from './components/button.tsx'
import { Problem } from './components/notice.tsx'
import { SessionContext } from './page/session.ts'
import { Shell } from './shell/shell.tsx'
import { Entrance } from './views/entrance/entrance.tsx'
import { systemInfo, whoAmI } from './wire/account.ts'
import { onLoginEnded, problemOf, Refused } from './wire/client.ts'
import { forgetSecret, hasSecret, onLogInElsewhere, onLogOutElsewhere } from './wire/secret.ts'
import type { Me, SystemInfo } from './wire/types.ts'

type State =
  | { readonly at: 'start' }
  | { readonly at: 'trouble'; readonly problem: Refused }
  | { readonly at: 'entrance'; readonly system: SystemInfo; readonly hasEnded: boolean }
  | { readonly at: 'inside'; readonly me: Me }

/** The console: the entrance until a user is logged in, then the shell with its views. */
export function App() {
  const [state, setState] = useState<State>({ at: 'start' })
  const isFirst = useRef(true)

  const enter = useCallback(async (hasEnded = false) => {
    try {
      const [system, me] = await Promise.all([systemInfo(), findMe()])
      setState((now) => {
        if (me && !system.needs_setup) return { at: 'inside', me }
        // Another tab may hand its secret over late: its login has ended as well, and the entrance continues saying so.
        return { at: 'entrance', system, hasEnded: hasEnded || (now.at === 'entrance' && now.hasEnded) }
      })
    } catch (reason) {
      setState({ at: 'trouble', problem: problemOf(reason) })
    }
  }, [])

  const leave = useCallback(() => {
    forgetSecret()
    setState((now) => (now.at === 'inside' ? { at: 'start' } : now))
  }, [])

  useEffect(() => {
    void enter()
    const stops = [onLoginEnded(leave), onLogOutElsewhere(leave), onLogInElsewhere(() => void enter())]
    return () => {
      for (const stop of stops) stop()
    }
  }, [])

  useEffect(() => {
    if (state.at === 'start' && !isFirst.current) void enter(true)
    isFirst.current = false
  }, [state.at])

  if (state.at === 'trouble')
    return (
      <main class="entrance">
        <div class="card">
          <p class="brand">aichat</p>
          <Problem of={state.problem} />
          <Button onClick={() => void enter()}>Try again</Button>
        </div>
      </main>
    )
  if (state.at === 'entrance')
    return <Entrance system={state.system} hasEnded={state.hasEnded} onEntered={() => void enter()} />
  if (state.at === 'inside')
    return (
      <SessionContext.Provider value={{ me: state.me, renew: () => void enter(), leave }}>
        <Shell />
      </SessionContext.Provider>
    )
  return null
}

/** The person of this browser's login; undefined without one. */
async function findMe(): Promise<Me | undefined> {
  if (!(await hasSecret())) return undefined
  try {
    return await whoAmI()
  } catch (reason) {
    if (reason instanceof Refused && reason.status === 401) return undefined
    throw reason
  }
}
