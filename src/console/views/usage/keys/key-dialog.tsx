import { useState } from 'preact/hooks'
import { Dialog, Form } from '../../../components/dialog.tsx'
import { Check, Select, TextField } from '../../../components/field.tsx'
import { ask } from '../../../wire/client.ts'
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

/** Makes an API key with its rights and limits. */
export function KeyDialog({
  onClose,
  onMade,
}: {
  readonly onClose: () => void
  readonly onMade: (secret: NewSecret) => void
}) {
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState<readonly Scope[]>(['chat', 'embeddings', 'models', 'speech'])
  const [models, setModels] = useState('')
  const [lifetime, setLifetime] = useState<(typeof lifetimes)[number][0]>('90d')
  const [limits, setLimits] = useState(limitTexts())
  const action = useAction(async () => {
    const patterns = models.split(/[,\s]+/).filter(Boolean)
    const body = {
      name,
      scopes: chosen,
      ...(lifetime !== '' && { expires_in: lifetime }),
      ...(patterns.length > 0 && { models: patterns }),
      ...(isLimited(limits) && { limits: limitsFrom(limits) }),
    }
    onMade(await ask<NewSecret>('POST', '/api/keys', { body }))
  })
  return (
    <Dialog title="New API key" onClose={onClose}>
      <Form action={action} submit="Create" onCancel={onClose} isIncomplete={name.trim() === '' || chosen.length === 0}>
        <TextField
          label="Name"
          value={name}
          onInput={setName}
          placeholder="The program that uses it"
          isRequired
          isFirst
        />
        <fieldset class="fields plain">
          <legend>May use</legend>
          {scopes.map(([scope, title]) => (
            <Check
              key={scope}
              label={title}
              isOn={chosen.includes(scope)}
              onInput={(isOn) => setChosen(isOn ? [...chosen, scope] : chosen.filter((other) => other !== scope))}
            />
          ))}
        </fieldset>
        <Select label="Expires after" value={lifetime} options={lifetimes} onInput={setLifetime} />
        <TextField
          label="Models (optional)"
          value={models}
          onInput={setModels}
          placeholder="gpt-*, local:*"
          hint="Patterns with commas between; without one all are allowed."
        />
        <details>
          <summary>Budget and limits</summary>
          <div class="form">
            <LimitFields texts={limits} onInput={setLimits} />
          </div>
        </details>
      </Form>
    </Dialog>
  )
}
