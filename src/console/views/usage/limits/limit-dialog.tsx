import { useState } from 'preact/hooks'
import { Dialog, Form } from '../../../components/dialog.tsx'
import { TextField } from '../../../components/field.tsx'
import { Notice } from '../../../components/notice.tsx'
import { ask, path } from '../../../wire/client.ts'
import type { Limit, LimitCheck } from '../../../wire/types.ts'
import { useAction } from '../../../wire/use-action.ts'
import { LimitFields, type LimitTexts, limitChange, limitTexts, mergedTexts } from './limit-fields.tsx'

interface LimitDialogProps {
  /** The limits to change; without them new ones are made. */
  readonly limit?: Limit
  /** Whom new ones are for; without it a person names the subject. */
  readonly subject?: string
  readonly onClose: () => void
  readonly onSaved: () => void
}

/** Models without a price that are named. */
const mostNamed = 8

/** Changes the limits of a subject, and shows before what it has, and which models a new budget stops. */
export function LimitDialog({ limit, subject: given = 'user:', onClose, onSaved }: LimitDialogProps) {
  const [subject, setSubject] = useState(limit?.subject ?? given)
  const [texts, setTexts] = useState(limitTexts(limit))
  const [base, setBase] = useState(limit)
  /** What stood in the fields before those of the subject joined it. */
  const [typed, setTyped] = useState<LimitTexts>()
  const [unpriced, setUnpriced] = useState<readonly string[]>()
  const isFound = base !== undefined && base !== limit
  const action = useAction(async () => {
    const wanted = subject.trim()
    let before = base
    let isShown = unpriced !== undefined
    if (!isShown) {
      const found = await ask<LimitCheck>('GET', path`/api/limits/${wanted}/check`)
      const isBudgetNew = texts.amount.trim() !== '' && !(base ?? found.limits)?.budgets.length
      setUnpriced(isBudgetNew ? found.unpriced : [])
      if (!before && found.limits) {
        before = found.limits
        setBase(before)
        setTyped(texts)
        setTexts(mergedTexts(texts, before))
      }
      isShown = before === base && !(isBudgetNew && found.unpriced.length > 0)
    }
    if (!isShown) return
    const body = limitChange(limitTexts(before), texts)
    await ask('POST', path`/api/limits/${wanted}/change`, { body })
    onClose()
    onSaved()
  })
  const more = (unpriced?.length ?? 0) - mostNamed
  return (
    <Dialog title={limit ? `Limits of ${limit.name ?? limit.subject}` : 'New limit'} onClose={onClose}>
      <Form action={action} submit={unpriced ? 'Save as shown' : 'Save'} onCancel={onClose}>
        {!limit && (
          <TextField
            label="For"
            value={subject}
            onInput={(text) => {
              setSubject(text)
              // The limits of one subject are no choice for another.
              if (typed) setTexts(typed)
              setTyped(undefined)
              setBase(undefined)
              setUnpriced(undefined)
            }}
            hint="user:NAME, key:ID, plugin:ID, or all"
            isFirst
          />
        )}
        {isFound && (
          <Notice>
            {subject.trim()} has limits already. They stand in the fields and stay unless you change them.
          </Notice>
        )}
        <LimitFields
          texts={texts}
          onInput={(next) => {
            setTexts(next)
            // A budget that is added now was not looked at.
            if (next.amount !== texts.amount) setUnpriced(undefined)
          }}
        />
        {unpriced !== undefined && unpriced.length > 0 && (
          <Notice kind="warning">
            No price is known of {unpriced.slice(0, mostNamed).join(', ')}
            {more > 0 && ` and ${more} more`}: a budget refuses their requests until one is set.
          </Notice>
        )}
      </Form>
    </Dialog>
  )
}
