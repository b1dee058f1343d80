import { useEffect, useState } from 'preact/hooks'
import { Dialog, Form } from '../../components/dialog.tsx'
import { Check, TextArea } from '../../components/field.tsx'
import { tell } from '../../components/toasts.tsx'
import { ask, path } from '../../wire/client.ts'
import type { Plugin } from '../../wire/types.ts'
import { useAction } from '../../wire/use-action.ts'

interface DocumentDialogProps {
  /** The plugin to edit; without one a new document is pasted. */
  readonly plugin?: Plugin
  readonly onClose: () => void
  readonly onSaved: (id: string) => void
}

const placeholder = `{
  "id": "my-provider",
  "name": "My provider",
  "type": "chat",
  "endpoint": "https://api.example.com/v1/chat/completions",
  "auth": { "header": "Authorization", "prefix": "Bearer ", "key_env": "MY_PROVIDER_API_KEY" },
  "model_map": ["my-model"]
}`

/** Installs a pasted document, or changes one; the service names its problems and takes none that has any. */
export function DocumentDialog({ plugin, onClose, onSaved }: DocumentDialogProps) {
  const [text, setText] = useState('')
  const [replaces, setReplaces] = useState(false)
  const [activates, setActivates] = useState(false)
  useEffect(() => {
    if (plugin)
      void ask('GET', path`/api/plugins/${plugin.id}/export`).then((document) =>
        setText(JSON.stringify(document, null, 2)),
      )
  }, [])
  const save = useAction(async () => {
    const file = { content: text, type: 'application/json' }
    const saved = plugin
      ? await ask<Plugin>('PUT', path`/api/plugins/${plugin.id}`, { file })
      : await ask<Plugin>('POST', '/api/plugins/install', { file, query: { replace: replaces } })
    if (activates) await ask('POST', path`/api/plugins/activate/${saved.id}`, { body: {} })
    tell(`${saved.name} is installed`)
    onClose()
    onSaved(saved.id)
  })
  return (
    <Dialog title={plugin ? `Document of ${plugin.name}` : 'Install a plugin'} onClose={onClose} isWide>
      <Form action={save} submit={plugin ? 'Save' : 'Install'} onCancel={onClose} isIncomplete={text.trim() === ''}>
        <TextArea label="Document" value={text} onInput={setText} rows={14} isCode placeholder={placeholder} />
        {!plugin && <Check label="Replace an installed plugin of this id" isOn={replaces} onInput={setReplaces} />}
        {!plugin && <Check label="Make it the active one" isOn={activates} onInput={setActivates} />}
      </Form>
    </Dialog>
  )
}
