import { useEffect, useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { TextField } from '../../components/field.tsx'
import { Icon } from '../../components/icon.tsx'
import { Problem } from '../../components/notice.tsx'
import { Time } from '../../components/time.tsx'
import { tell, undoMs } from '../../components/toasts.tsx'
import { linkTo } from '../../page/route.ts'
import { ask, path, type Query } from '../../wire/client.ts'
import type { FoundMessage, SavedSession } from '../../wire/types.ts'
import { useData } from '../../wire/use-data.ts'
import type { Partner } from './chat-message.ts'
import { ConversationDialog } from './conversation-dialog.tsx'

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

/** A pause in typing after which the texts are searched: milliseconds. */
const searchPause = 250

/** The conversations that are about to be removed: until then they can be taken back. */
const leaving = new Set<string>()

function pageOf(query: Query, signal: AbortSignal) {
  return ask<{ sessions: readonly SavedSession[]; total: number }>('GET', '/api/sessions', {
    query: { ...query, limit: pageSize },
    signal,
  })
}

/** The earlier conversations with a persona, or all of them, and the way to a new one: next to the chat, folded up on a narrow screen. */
export function Conversations({ partner, current, onNew }: ConversationsProps) {
  const persona = partner.persona?.id
  const [opened, setOpened] = useState<SavedSession>()
  const [pages, setPages] = useState(1)
  const [search, setSearch] = useState('')
  const [, setChanges] = useState(0)
  const { value, reload } = useData(
    (signal) =>
      Promise.all([
        pageOf({ persona, pinned: true }, signal),
        ...Array.from({ length: pages }, (_, at) => pageOf({ persona, offset: at * pageSize }, signal)),
      ]),
    [persona, current, pages],
  )
  const [pinned, ...others] = value ?? []
  const total = others[0]?.total ?? 0
  const own = [
    ...(pinned?.sessions ?? []),
    ...others.flatMap(({ sessions }) => sessions).filter((session) => !session.pinned),
  ].filter(({ id }) => !leaving.has(id))
  if (own.length === 0) return null
  const remove = (session: SavedSession) => {
    leaving.add(session.id)
    setOpened(undefined)
    if (session.id === current) onNew()
    const timer = setTimeout(() => {
      ask('DELETE', path`/api/sessions/${session.id}`).then(reload, () => {
        leaving.delete(session.id)
        tell(`${session.name.slice(0, 80)} could not be deleted`)
        reload()
      })
    }, undoMs)
    tell(`Deleted ${session.name.slice(0, 80)}`, () => {
      clearTimeout(timer)
      leaving.delete(session.id)
      setChanges((now) => now + 1)
      reload()
    })
  }
  return (
    <div class="conversations">
      <Button icon="add" isDisabled={current === undefined} onClick={onNew}>
        New conversation
      </Button>
      <details open={matchMedia(besideFrom).matches}>
        <summary>Earlier conversations</summary>
        <TextField label="Search in their texts" type="search" value={search} onInput={setSearch} />
        {search.trim() !== '' && <FoundMessages search={search.trim()} />}
        {search.trim() === '' && (
          <ul>
            {own.map((session) => (
              <li key={session.id} class={session.id === current ? 'current' : ''}>
                <a
                  href={linkTo(...placeOf(session), session.id)}
                  aria-current={session.id === current ? 'true' : undefined}
                >
                  <span class="line" dir="auto">
                    {session.name.slice(0, 80)}
                  </span>
                  <span class="muted">
                    {session.pinned && <Icon name="pin" />}
                    {session.pinned && 'pinned, '}
                    <Time at={session.updated_at} />
                  </span>
                </a>
                <Button
                  kind="quiet"
                  icon="more"
                  label={`Rename, pin, save or delete ${session.name.slice(0, 40)}`}
                  onClick={() => setOpened(session)}
                />
              </li>
            ))}
          </ul>
        )}
        {search.trim() === '' && pageSize * pages < total && (
          <Button kind="quiet" onClick={() => setPages(pages + 1)}>
            Show older ones
          </Button>
        )}
      </details>
      {opened && (
        <ConversationDialog
          session={opened}
          onChanged={reload}
          onRemove={() => remove(opened)}
          onClose={() => setOpened(undefined)}
        />
      )}
    </div>
  )
}

/** The messages that a search finds, with the found words marked. */
function FoundMessages({ search }: { readonly search: string }) {
  const [wanted, setWanted] = useState(search)
  useEffect(() => {
    const timer = setTimeout(() => setWanted(search), searchPause)
    return () => clearTimeout(timer)
  }, [search])
  const { value, problem } = useData(
    (signal) =>
      ask<{ hits: readonly FoundMessage[]; more: boolean }>('GET', '/api/sessions/search', {
        // The last word may be a beginning.
        query: { q: /[\p{L}\p{N}]$/u.test(wanted) ? `${wanted}*` : wanted, limit: 50 },
        signal,
      }),
    [wanted],
  )
  if (problem) return <Problem of={problem} />
  if (value?.hits.length === 0) return <p class="muted">No message has these words.</p>
  return (
    <ul>
      {value?.hits.map(({ session, number, timestamp, snippet, marks }) => (
        <li key={`${session.id} ${number}`}>
          <a href={linkTo(...placeOf(session), session.id)}>
            <span class="line" dir="auto">
              {session.name.slice(0, 80)}
            </span>
            <span class="muted" dir="auto">
              {marked(snippet, marks)}
            </span>
            <span class="muted">
              <Time at={timestamp} />
            </span>
          </a>
        </li>
      ))}
    </ul>
  )
}

function marked(text: string, marks: readonly (readonly number[])[]) {
  return marks.flatMap(([start = 0, end = 0], at) => [
    text.slice(marks[at - 1]?.[1] ?? 0, start),
    <mark key={start}>{text.slice(start, end)}</mark>,
    ...(at === marks.length - 1 ? [text.slice(end)] : []),
  ])
}

/** Where a conversation is shown: with its persona, or among the chats without one. */
function placeOf({ persona_id }: Pick<SavedSession, 'persona_id'>): readonly string[] {
  return persona_id == null ? ['chat'] : ['personas', persona_id, 'chat']
}
