import { useState } from 'preact/hooks'
import { Dialog, Form } from '../../components/dialog.tsx'
import { Check, Checks, Select, TextArea, TextField } from '../../components/field.tsx'
import { modelFacts } from '../../page/format.ts'
import { useSession } from '../../page/session.ts'
import { ask, path } from '../../wire/client.ts'
import type { ChatModel, Persona, ToolServer } from '../../wire/types.ts'
import { useAction } from '../../wire/use-action.ts'
import { useData, useList } from '../../wire/use-data.ts'

interface PersonaDialogProps {
  /** The persona to edit; without one a new one is created. */
  readonly persona?: Persona
  readonly onClose: () => void
  readonly onSaved: (persona: Persona) => void
}

type Learning = 'off' | Persona['mutation_settings']['sensitivity']

/** Creates or edits a persona. */
export function PersonaDialog({ persona, onClose, onSaved }: PersonaDialogProps) {
  const [name, setName] = useState(persona?.name ?? '')
  const [model, setModel] = useState(persona?.model ?? '')
  const [description, setDescription] = useState(persona?.description ?? '')
  const [prompt, setPrompt] = useState(persona?.system_prompt ?? '')
  const [remembers, setRemembers] = useState(persona?.memory_settings.enabled ?? true)
  const [learning, setLearning] = useState<Learning>(learningOf(persona))
  const { value: models } = useList<ChatModel>('/api/chat/models', 'models')
  const { isAdmin } = useSession()
  const [servers, setServers] = useState<readonly string[]>(persona?.mcp_servers ?? [])
  const { value: known } = useData(
    (signal) =>
      isAdmin
        ? ask<{ servers: readonly ToolServer[] }>('GET', '/api/mcp/servers', { signal })
        : Promise.resolve({ servers: [] }),
    [],
  )
  const offered = [
    ...new Set([...(known?.servers ?? []).map((server) => server.name), ...(persona?.mcp_servers ?? [])]),
  ]
  const chosen = models?.find(({ id }) => id === model)
  const action = useAction(async () => {
    const body = {
      name,
      model,
      ...textField('description', description, persona),
      ...textField('system_prompt', prompt, persona),
      ...(offered.length > 0 && { mcp_servers: servers }),
      memory_settings: { enabled: remembers },
      ...(learning !== learningOf(persona) && { mutation_settings: settingsOf(learning) }),
    }
    const saved = await (persona
      ? ask<Persona>('PUT', path`/api/personas/${persona.id}`, { body })
      : ask<Persona>('POST', '/api/personas', { body }))
    onClose()
    onSaved(saved)
  })
  return (
    <Dialog title={persona ? 'Edit the persona' : 'New persona'} onClose={onClose}>
      <Form
        action={action}
        submit={persona ? 'Save' : 'Create'}
        onCancel={onClose}
        isIncomplete={name.trim() === '' || model.trim() === ''}
      >
        <TextField label="Name" value={name} onInput={setName} isRequired isFirst />
        <TextField
          label="Model"
          hint={chosen && modelFacts(chosen)}
          value={model}
          onInput={setModel}
          list="chat-models"
          isRequired
        />
        <datalist id="chat-models">
          {models?.map((each) => (
            <option key={each.id} value={each.id} label={modelFacts(each)} />
          ))}
        </datalist>
        <TextField label="Description" value={description} onInput={setDescription} />
        <TextArea label="System prompt" value={prompt} onInput={setPrompt} rows={6} />
        <Check label="Remember what is said in chats" isOn={remembers} onInput={setRemembers} />
        <Select
          label="Learns from chats"
          value={learning}
          onInput={setLearning}
          options={[
            ['off', 'not at all'],
            ['low', 'slowly'],
            ['medium', 'balanced'],
            ['high', 'quickly'],
          ]}
        />
        {offered.length > 0 && (
          <Checks
            label="Tool servers that it may use"
            options={offered.map((each) => [each, each])}
            chosen={servers}
            onInput={setServers}
          />
        )}
      </Form>
    </Dialog>
  )
}

function learningOf(persona: Persona | undefined): Learning {
  const { enabled, auto_adapt: adapts, sensitivity } = persona?.mutation_settings ?? {}
  return enabled && adapts && sensitivity ? sensitivity : 'off'
}

function settingsOf(learning: Learning) {
  return learning === 'off' ? { auto_adapt: false } : { enabled: true, auto_adapt: true, sensitivity: learning }
}

/** A text that may be absent: an emptied one of a stored persona is removed. */
function textField(field: 'description' | 'system_prompt', text: string, persona: Persona | undefined) {
  if (text !== '') return { [field]: text }
  return persona?.[field] === undefined ? {} : { [field]: null }
}
