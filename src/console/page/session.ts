import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Me } from '../wire/types.ts'

export interface Session {
  readonly me: Me
  /** Asks the server again for the logged-in user. */
  renew(): void
  /** Goes back to the entrance, after a logout. */
  leave(): void
}

export const SessionContext = createContext<Session | undefined>(undefined)

/** The logged-in user. The server decides about permissions; the page only hides actions that would be refused. */
export function useSession(): Session & { readonly isAdmin: boolean } {
  const session = useContext(SessionContext)
  if (!session) throw new Error('There is no session outside the shell')
  return { ...session, isAdmin: session.me.role === 'admin' }
}
