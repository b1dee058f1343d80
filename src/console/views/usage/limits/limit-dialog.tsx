import { useState } from 'preact/hooks'
import { Dialog, Form } from '../../../components/dialog.tsx'
import { TextField } from '../../../components/field.tsx'
import { ask, path } from '../../../wire/client.ts'
import type { Limit } from '../../../wire/types.ts'
import { useAction } from '../../../wire/use-action.ts'
import { LimitFields, limitsFrom, limitTexts } from './limit-fields.tsx'

interface LimitDialogProps {
  /** The limits to change; without them new ones are made. */
  readonly limit?: Limit
  readonly onClose: () => void
  readonly onSaved: () => void
}

/** Sets the limits of a key, a user, a plugin, or all. */
export function LimitDialog({ limit, onClose, onSaved }: LimitDialogProps) {
  const [subject, setSubject] = useState(limit?.subject ?? 'user:')
  const [texts, setTexts] = useState(limitTexts(limit))
  const action = useAction(async () => {
    await ask('PUT', path`/api/limits/${subject.trim()}`, { body: limitsFrom(texts) })
    onClose()
    onSaved()
  })
  return (
    <Dialog title={limit ? `Limits of ${limit.subject}` : 'New limit'} onClose={onClose}>
      <Form action={action} submit="Save" onCancel={onClose}>
        {!limit && (
          <TextField
            label="For"
            value={subject}
            onInput={setSubject}
            hint="user:NAME, key:ID, plugin:ID, or all"
            isFirst
          />
        )}
        <LimitFields texts={texts} onInput={setTexts} />
      </Form>
    </Dialog>
  )
}
