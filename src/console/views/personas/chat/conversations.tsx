import { Button } from '../../../components/button.tsx'
import { goTo } from '../../../page/route.ts'
import { ask } from '../../../wire/client.ts'
import type { Persona, SavedSession } from '../../../wire/types.ts'
import { useData } from '../../../wire/use-data.ts'

interface ConversationsProps {
  readonly persona: Persona
  /** The id of the one that is shown. */
  readonly current: string | undefined
  readonly onNew: () => void
}

/** The earlier conversations with a persona, and the way to a new one. */
export function Conversations({ persona, current, onNew }: ConversationsProps) {
  const { value } = useData<{ sessions: readonly SavedSession[] }>(
    (signal) => ask('GET', '/api/sessions', { query: { limit: 200 }, signal }),
    [current],
  )
  const own = value?.sessions.filter(({ persona_id }) => persona_id === persona.id) ?? []
  if (own.length === 0) return null
  return (
    <div class="row between">
      <select
        class="input conversations"
        aria-label="Conversation"
        value={current ?? ''}
        onInput={({ currentTarget: { value: id } }) => (id === '' ? onNew() : goTo('personas', persona.id, 'chat', id))}
      >
        <option value="">New conversation</option>
        {own.map(({ id, name }) => (
          <option key={id} value={id}>
            {name.slice(0, 80)}
          </option>
        ))}
      </select>
      {current !== undefined && (
        <Button icon="add" onClick={onNew}>
          New conversation
        </Button>
      )}
    </div>
  )
}
