import { useState } from 'preact/hooks'
import { Button } from '../../../components/button.tsx'
import { Dialog, Form } from '../../../components/dialog.tsx'
import { Check, TextArea, TextField } from '../../../components/field.tsx'
import { Problem } from '../../../components/notice.tsx'
import { tell } from '../../../components/toasts.tsx'
import { dateTime, percent } from '../../../page/format.ts'
import { ask, path } from '../../../wire/client.ts'
import type { Memory, Persona, Removed } from '../../../wire/types.ts'
import { useAction } from '../../../wire/use-action.ts'
import { isPinned } from './memory-row.tsx'

interface MemoryDialogProps {
  readonly persona: Persona
  /** The memory to edit; without one a new one is added. */
  readonly memory?: Memory
  readonly onClose: () => void
  readonly onChanged: () => void
}

/** Reads, edits, pins, adds or deletes a memory. */
export function MemoryDialog({ persona, memory, onClose, onChanged }: MemoryDialogProps) {
  const [content, setContent] = useState(memory?.content ?? '')
  const [importance, setImportance] = useState(memory?.importance_score ?? 0.5)
  const [category, setCategory] = useState(categoryOf(memory))
  const [pinned, setPinned] = useState(memory ? isPinned(memory) : false)
  const done = (text: string) => {
    tell(text)
    onClose()
    onChanged()
  }
  const save = useAction(async () => {
    const before = { category: categoryOf(memory), pinned: memory ? isPinned(memory) : false }
    const metadata = {
      ...(category !== before.category && { category: category === '' ? null : category }),
      ...(pinned !== before.pinned && { pinned: pinned || null }),
    }
    const body = { content, importance_score: importance, metadata }
    await (memory
      ? ask('PUT', path`/api/personas/${persona.id}/memory/${memory.id}`, { body })
      : ask('POST', path`/api/personas/${persona.id}/memory`, { body }))
    done(memory ? 'Saved' : 'Added')
  })
  const remove = useAction(async () => {
    const { may_remain_in: places = [] } = await ask<Removed>(
      'DELETE',
      path`/api/personas/${persona.id}/memory/${memory!.id}`,
    )
    done(places.length > 0 ? `Deleted, also from the backups. It may remain in: ${places.join(', ')}` : 'Deleted')
  })
  return (
    <Dialog title={memory ? 'Memory' : 'New memory'} onClose={onClose} isWide>
      <Form action={save} submit={memory ? 'Save' : 'Add'} onCancel={onClose} isIncomplete={content.trim() === ''}>
        <TextArea label="Text" value={content} onInput={setContent} rows={6} />
        <div class="fields">
          <TextField label="Category" value={category} onInput={setCategory} />
          <div class="field">
            <label for="importance">Importance {percent(importance)}</label>
            <input
              id="importance"
              type="range"
              min={0}
              max={1}
              step={0.05}
              value={importance}
              onInput={({ currentTarget }) => setImportance(currentTarget.valueAsNumber)}
            />
          </div>
        </div>
        <Check label="Pinned: it is never evicted" isOn={pinned} onInput={setPinned} />
        {memory && <p class="muted">From {dateTime(memory.timestamp)}</p>}
      </Form>
      <Problem of={remove.problem} />
      {memory && (
        <Button kind="danger" icon="trash" isBusy={remove.isRunning} onClick={() => void remove.run()}>
          Delete for good
        </Button>
      )}
    </Dialog>
  )
}

function categoryOf(memory: Memory | undefined): string {
  const category = memory?.metadata['category']
  return typeof category === 'string' ? category : ''
}
