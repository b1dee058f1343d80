import { useMemo, useState } from 'preact/hooks'
import { Dialog } from '../components/dialog.tsx'
import { Empty, Problem } from '../components/notice.tsx'
import { linkTo, linkWith } from '../page/route.ts'
import { useSession } from '../page/session.ts'
import { ask } from '../wire/client.ts'
import type { Key, Persona, SavedSession, User } from '../wire/types.ts'
import { useData } from '../wire/use-data.ts'
import type { ViewEntry } from './views.tsx'

/** A place that the palette leads to. */
interface Place {
  readonly kind: string
  readonly name: string
  readonly link: string
}

/** The most places that are listed, and rows that are fetched of each kind. */
const mostShown = 50
const mostFetched = 200

/** Goes to a view, persona, conversation, key or user by a part of its name, with the keyboard alone. */
export function Palette({ views, onClose }: { readonly views: readonly ViewEntry[]; readonly onClose: () => void }) {
  const { isAdmin } = useSession()
  const [search, setSearch] = useState('')
  const [chosen, setChosen] = useState(0)
  const { value, problem, isLoading } = useData((signal) => placesOf(isAdmin, signal), [])
  const found = useMemo(() => {
    const ofViews = views.map(({ name, title }) => ({ kind: 'view', name: title, link: linkTo(name) }))
    const words = search.toLowerCase().split(/\s+/)
    const matches = ({ kind, name }: Place) => words.every((word) => `${kind} ${name}`.toLowerCase().includes(word))
    return [...ofViews, ...(value ?? [])].filter(matches).slice(0, mostShown)
  }, [search, value, views])
  const go = (place: Place | undefined) => {
    if (!place) return
    onClose()
    location.hash = place.link
  }
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        class="input"
        type="search"
        // biome-ignore lint/a11y/noRedundantRoles: a search field without a list is none by itself
        role="combobox"
        list={undefined}
        aria-label="A part of a name"
        aria-expanded="true"
        aria-controls="palette"
        aria-activedescendant={found[chosen] && `palette-${chosen}`}
        autoFocus
        value={search}
        onInput={({ currentTarget }) => {
          setSearch(currentTarget.value)
          setChosen(0)
        }}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
          if (step !== undefined) setChosen(Math.max(0, Math.min(found.length - 1, chosen + step)))
          if (event.key === 'Enter' && !event.isComposing) go(found[chosen])
          // The browser would only empty the field.
          if (event.key === 'Escape') onClose()
          if (step !== undefined || event.key === 'Enter') event.preventDefault()
        }}
      />
      <Problem of={problem} />
      {!isLoading && found.length === 0 && <Empty title="Nothing is called so" />}
      <div id="palette" class="palette" role="listbox" aria-label="Places">
        {found.map((place, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the focus and takes the keys
          <div
            key={`${place.kind} ${place.link} ${place.name}`}
            id={`palette-${at}`}
            role="option"
            tabIndex={-1}
            aria-selected={at === chosen}
            ref={(element) => {
              if (at === chosen) element?.scrollIntoView({ block: 'nearest' })
            }}
            onClick={() => go(place)}
          >
            <span class="line" dir="auto">
              {place.name.slice(0, 80)}
            </span>
            <span class="muted">{place.kind}</span>
          </div>
        ))}
      </div>
    </Dialog>
  )
}

/** What a person can go to beside the views; users for administrators alone. */
async function placesOf(isAdmin: boolean, signal: AbortSignal): Promise<readonly Place[]> {
  const list = <T,>(path: string) => ask<T>('GET', path, { query: { limit: mostFetched }, signal })
  const [{ personas }, { sessions }, { keys }, { users }] = await Promise.all([
    ask<{ personas: readonly Persona[] }>('GET', '/api/personas', { signal }),
    list<{ sessions: readonly SavedSession[] }>('/api/sessions'),
    list<{ keys: readonly Key[] }>('/api/keys'),
    isAdmin ? list<{ users: readonly User[] }>('/api/users') : { users: [] },
  ])
  return [
    ...personas.map(({ id, name }) => ({ kind: 'persona', name, link: linkTo('personas', id) })),
    ...sessions.map(({ id, name, persona_id }) => ({
      kind: 'conversation',
      name,
      link: persona_id == null ? linkTo('chat', id) : linkTo('personas', persona_id, 'chat', id),
    })),
    ...keys.map(({ name }) => ({ kind: 'key', name, link: linkTo('usage', 'keys') })),
    ...users.map(({ username }) => ({ kind: 'user', name: username, link: linkWith({ q: username }, 'users') })),
  ]
}
