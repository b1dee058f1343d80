import { useState } from 'preact/hooks'
import { Button } from '../../../components/button.tsx'
import { Problem } from '../../../components/notice.tsx'
import { Section } from '../../../components/page.tsx'
import { Time } from '../../../components/time.tsx'
import { ask, path } from '../../../wire/client.ts'
import type { Persona, ProfileLine } from '../../../wire/types.ts'
import { useAction } from '../../../wire/use-action.ts'
import { useList } from '../../../wire/use-data.ts'

/** The lines that a persona always has in view; they can be added and removed. */
export function Profile({ persona }: { readonly persona: Persona }) {
  const [text, setText] = useState('')
  const place = path`/api/personas/${persona.id}/profile`
  const profile = useList<ProfileLine>(place, 'lines')
  const change = useAction(async (work: () => Promise<unknown>) => {
    await work()
    profile.reload()
  })
  const add = () =>
    change.run(async () => {
      await ask('POST', place, { body: { text } })
      setText('')
    })
  return (
    <Section title="Always in view">
      <Problem of={profile.problem ?? change.problem} />
      <ul>
        {profile.value?.map(({ id, slot, text: words, created_at: at }) => (
          <li key={id} class="row between">
            <span class="text">{words}</span>
            <span class="row muted">
              {slot} <Time at={at} />
              <Button
                icon="trash"
                label={`Remove: ${words}`}
                onClick={() => void change.run(() => ask('DELETE', path`/api/personas/${persona.id}/profile/${id}`))}
              />
            </span>
          </li>
        ))}
      </ul>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          if (text.trim() !== '') void add()
        }}
      >
        <input
          class="input grow"
          aria-label="A line that is always in view"
          placeholder="Call me Jo; I am allergic to nuts"
          dir="auto"
          maxLength={300}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <Button type="submit" icon="add" isBusy={change.isRunning}>
          Add line
        </Button>
      </form>
    </Section>
  )
}
