import { useState } from 'preact/hooks'
import { Form } from '../../components/dialog.tsx'
import { Select, TextField } from '../../components/field.tsx'
import { Section } from '../../components/page.tsx'
import { tell } from '../../components/toasts.tsx'
import { linkTo } from '../../page/route.ts'
import { ask, path } from '../../wire/client.ts'
import type { Plugin } from '../../wire/types.ts'
import { useAction } from '../../wire/use-action.ts'
import { storeKey } from '../plugins/plugin-key.tsx'

interface ConnectProps {
  readonly plugins: readonly Plugin[]
  readonly onConnected: () => void
}

/** Connects a provider: its key is stored, tried with a tiny call, and the provider made the active one. */
export function Connect({ plugins, onConnected }: ConnectProps) {
  const offered = plugins.filter(({ state, auth }) => state !== 'retired' && auth.key_env !== '')
  const first = offered.find(({ key_set: isSet }) => isSet) ?? offered.find((plugin) => plugin.id === 'openai')
  const [id, setId] = useState((first ?? offered[0])?.id ?? '')
  const [key, setKey] = useState('')
  const chosen = offered.find((plugin) => plugin.id === id)
  const action = useAction(async () => {
    await storeKey(id, key.trim() === '' ? undefined : key)
    await ask('POST', path`/api/plugins/activate/${id}`, { body: {} })
    tell(`${chosen?.name ?? id} is connected`)
    onConnected()
  })
  return (
    <Section title="Connect a provider">
      <p class="lead">No model can answer yet. With the key of a provider you can ask in a minute.</p>
      <Form action={action} submit="Connect" isIncomplete={id === '' || (key.trim() === '' && !chosen?.key_set)}>
        <Select
          label="Provider"
          value={id}
          onInput={setId}
          options={offered.map((plugin) => [plugin.id, plugin.name] as const)}
        />
        <TextField
          label="Key"
          type="password"
          value={key}
          onInput={setKey}
          autoComplete="off"
          hint={
            chosen?.key_set
              ? 'It has a key already: leave this empty to try and use that one.'
              : 'Kept on this machine alone, never shown again, and tried at once with a tiny call.'
          }
          isRequired={!chosen?.key_set}
        />
      </Form>
      <p class="muted">
        Another provider, or a server of your own: <a href={linkTo('plugins')}>install its document</a>. A model of this
        machine answers as soon as Ollama runs here.
      </p>
    </Section>
  )
}
