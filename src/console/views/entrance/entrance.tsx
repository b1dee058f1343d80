import { useLayoutEffect, useState } from 'preact/hooks'
import { Brand } from '../../components/brand.tsx'
import { Notice } from '../../components/notice.tsx'
import type { SystemInfo } from '../../wire/types.ts'
import { LogIn } from './log-in.tsx'
import { NewAccount } from './new-account.tsx'

interface EntranceProps {
  readonly system: SystemInfo
  readonly hasEnded: boolean
  readonly onEntered: () => void
}

/** First-time setup while there is no user, else the login, and registration where it is open. */
export function Entrance({ system, hasEnded, onEntered }: EntranceProps) {
  const [isNew, setNew] = useState(false)
  const { needs_setup: isFirst, registration_enabled: isOpen } = system
  useLayoutEffect(() => {
    // The title before may name a persona.
    document.title = 'aichat'
  }, [])
  return (
    <main class="entrance">
      <div class="card">
        <p class="brand">
          <Brand />
        </p>
        {hasEnded && !isFirst && <Notice>You are logged out.</Notice>}
        {isFirst || isNew ? (
          <NewAccount isFirst={isFirst} policy={system.password_policy} onEntered={onEntered} />
        ) : (
          <LogIn onEntered={onEntered} />
        )}
        {isOpen && !isFirst && (
          <button type="button" class="link" onClick={() => setNew(!isNew)}>
            {isNew ? 'Log in instead' : 'Create an account'}
          </button>
        )}
      </div>
    </main>
  )
}
