import { useState } from 'preact/hooks'
import { Dialog, Form } from '../../../components/dialog.tsx'
import { Checks, Select, TextField } from '../../../components/field.tsx'
import { ask, path } from '../../../wire/client.ts'
import type { Key } from '../../../wire/types.ts'
import { useAction } from '../../../wire/use-action.ts'
import { isLimited, LimitFields, limitsFrom, limitTexts } from '../limits/limit-fields.tsx'
import type { NewSecret } from './secret-dialog.tsx'

type Scope = Key['scopes'][number]

/** The scopes and the access that each gives. */
const scopes: readonly (readonly [Scope, string])[] = [
  ['chat', 'Chat'],
  ['embeddings', 'Embeddings'],
  ['speech', 'Speech'],
  ['models', 'List models'],
  ['personas', 'Personas'],
  ['memory', 'Memories'],
  ['usage', 'Usage'],
]

const lifetimes = [
  ['30d', '30 days'],
  ['90d', '90 days'],
  ['365d', 'a year'],
  ['', 'no end'],
] as const

/** The expiry of a key that is changed, where it stays. */
const unchanged = ['same', 'as before'] as const

type Lifetime = (typeof lifetimes)[number][0] | (typeof unchanged)[0]

interface KeyDialogProps {
  /** The key to change; without it one is made, with its limits. */
  readonly edited?: Key
  readonly onClose: () => void
  /** With the secret of a key that was made. */
  readonly onSaved: (secret?: NewSecret) => void
}

/** Makes an API key with its rights and limits, or changes the rights of one. */
export function KeyDialog({ edited, onClose, onSaved }: KeyDialogProps) {
  const [name, setName] = useState(edited?.name ?? '')
  const [chosen, setChosen] = useState<readonly Scope[]>(edited?.scopes ?? ['chat', 'embeddings', 'models', 'speech'])
  const [models, setModels] = useState(edited?.models?.join(', ') ?? '')
  const [lifetime, setLifetime] = useState<Lifetime>(edited ? 'same' : '90d')
  const [limits, setLimits] = useState(limitTexts())
  const action = useAction(async () => {
    const patterns = models.split(/[,\s]+/).filter(Boolean)
    if (edited) {
      const expiry = lifetime === 'same' ? {} : { expires_in: lifetime || null }
      const change = { name, scopes: chosen, models: patterns.length > 0 ? patterns : null, ...expiry }
      await ask('PUT', path`/api/keys/${edited.id}`, { body: change })
      return onSaved()
    }
    const body = {
      name,
      scopes: chosen,
      ...(lifetime !== '' && { expires_in: lifetime }),
      ...(patterns.length > 0 && { models: patterns }),
      ...(isLimited(limits) && { limits: limitsFrom(limits) }),
    }
    onSaved(await ask<NewSecret>('POST', '/api/keys', { body }))
  })
  return (
    <Dialog title={edited ? `Edit ${edited.name}` : 'New API key'} onClose={onClose}>
      <Form
        action={action}
        submit={edited ? 'Save' : 'Create'}
        onCancel={onClose}
        isIncomplete={name.trim() === '' || chosen.length === 0}
      >
        <TextField
          label="Name"
          value={name}
          onInput={setName}
          placeholder="The program that uses it"
          isRequired
          isFirst
        />
        <Checks label="May use" options={scopes} chosen={chosen} onInput={setChosen} />
        <Select<Lifetime>
          label={edited ? 'Expires, from now' : 'Expires after'}
          value={lifetime}
          options={edited ? [unchanged, ...lifetimes] : lifetimes}
          onInput={setLifetime}
        />
        <TextField
          label="Models (optional)"
          value={models}
          onInput={setModels}
          placeholder="gpt-*, local:*"
          hint="Patterns with commas between; without one all are allowed."
        />
        {!edited && (
          <details>
            <summary>Budget and limits</summary>
            <div class="form">
              <LimitFields texts={limits} onInput={setLimits} />
            </div>
          </details>
        )}
      </Form>
    </Dialog>
  )
}
