import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Confirm } from '../../components/confirm.tsx'
import { Time } from '../../components/time.tsx'
import { goTo, linkTo } from '../../page/route.ts'
import { ask, path } from '../../wire/client.ts'
import type { SavedSession } from '../../wire/types.ts'
import { useData } from '../../wire/use-data.ts'
import type { Partner } from './chat-message.ts'

interface ConversationsProps {
  readonly partner: Partner
  /** The id of the one that is shown. */
  readonly current: string | undefined
  readonly onNew: () => void
}

/** The width from which the list stands open next to the chat, as in the style sheet. */
const besideFrom = '(min-width: 1100px)'

/** Conversations that are read at once. */
const pageSize = 100

function pageOf(persona: string | undefined, offset: number, signal: AbortSignal) {
  return ask<{ sessions: readonly SavedSession[]; total: number }>('GET', '/api/sessions', {
    query: { ...(persona !== undefined && { persona }), limit: pageSize, offset },
    signal,
  })
}

/** The earlier conversations with a persona, or all of them, and the way to a new one: next to the chat, folded up on a narrow screen. */
export function Conversations({ partner, current, onNew }: ConversationsProps) {
  const persona = partner.persona?.id
  const [removed, setRemoved] = useState<SavedSession>()
  const [pages, setPages] = useState(1)
  const { value, reload } = useData(
    (signal) => Promise.all(Array.from({ length: pages }, (_, at) => pageOf(persona, at * pageSize, signal))),
    [persona, current, pages],
  )
  const own = value?.flatMap(({ sessions }) => sessions) ?? []
  const total = value?.[0]?.total ?? 0
  if (own.length === 0) return null
  return (
    <div class="conversations">
      <Button icon="add" isDisabled={current === undefined} onClick={onNew}>
        New conversation
      </Button>
      <details open={matchMedia(besideFrom).matches}>
        <summary>Earlier conversations</summary>
        <ul>
          {own.map((session) => (
            <li key={session.id} class={session.id === current ? 'current' : ''}>
              <a
                href={linkTo(...placeOf(session), session.id)}
                aria-current={session.id === current ? 'true' : undefined}
              >
                <span class="line">{session.name.slice(0, 80)}</span>
                <span class="muted">
                  <Time at={session.updated_at} />
                </span>
              </a>
              <Button
                kind="quiet"
                icon="trash"
                label={`Delete ${session.name.slice(0, 40)}`}
                onClick={() => setRemoved(session)}
              />
            </li>
          ))}
        </ul>
        {own.length < total && (
          <Button kind="quiet" onClick={() => setPages(pages + 1)}>
            Show older ones
          </Button>
        )}
      </details>
      {removed && (
        <Confirm
          title="Delete the conversation?"
          submit="Delete"
          work={() => ask('DELETE', path`/api/sessions/${removed.id}`)}
          onDone={() => {
            reload()
            if (removed.id !== current) return
            onNew()
            goTo(...partner.place)
          }}
          onClose={() => setRemoved(undefined)}
        >
          {removed.name.slice(0, 80)}: its messages are deleted for good, the memories that came from it stay.
        </Confirm>
      )}
    </div>
  )
}

/** Where a conversation is shown: with its persona, or among the chats without one. */
function placeOf({ persona_id }: SavedSession): readonly string[] {
  return persona_id == null ? ['chat'] : ['personas', persona_id, 'chat']
}
