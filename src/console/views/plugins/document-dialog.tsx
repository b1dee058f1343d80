import { useEffect, useState } from 'preact/hooks'
import { Dialog, Form } from '../../components/dialog.tsx'
import { Check } from '../../components/field.tsx'
import { Notice, Problem } from '../../components/notice.tsx'
import { tell } from '../../components/toasts.tsx'
import { ask, path } from '../../wire/client.ts'
import type { Plugin, PluginCheck } from '../../wire/types.ts'
import { useAction } from '../../wire/use-action.ts'
import { useData } from '../../wire/use-data.ts'
import { DocumentEditor } from './document-editor.tsx'

interface DocumentDialogProps {
  /** The plugin to edit; without one a new document is pasted. */
  readonly plugin?: Plugin
  readonly onClose: () => void
  readonly onSaved: (id: string) => void
}

/** How long the check waits for the next key: milliseconds. */
const restMs = 250

/** Installs a pasted document, or changes one; its problems are next to their lines before it is sent. */
export function DocumentDialog({ plugin, onClose, onSaved }: DocumentDialogProps) {
  const [text, setText] = useState('')
  const [settled, setSettled] = useState('')
  const [activates, setActivates] = useState(false)
  useEffect(() => {
    if (plugin)
      void ask('GET', path`/api/plugins/${plugin.id}/export`).then((document) =>
        setText(JSON.stringify(document, null, 2)),
      )
  }, [])
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), restMs)
    return () => clearTimeout(timer)
  }, [text])
  const check = useData<PluginCheck | undefined>(
    async (signal) =>
      settled.trim() === '' ? undefined : ask('POST', '/api/plugins/validate', { body: { text: settled }, signal }),
    [settled],
  )
  const found = settled === text && text.trim() !== '' ? check.value : undefined
  const save = useAction(async () => {
    const body: unknown = JSON.parse(text)
    const saved = plugin
      ? await ask<Plugin>('PUT', path`/api/plugins/${plugin.id}`, { body })
      : await ask<Plugin>('POST', '/api/plugins/install', { body, query: { replace: found?.installed === true } })
    if (activates) await ask('POST', path`/api/plugins/activate/${saved.id}`, { body: {} })
    tell(`${saved.name} is installed`)
    onClose()
    onSaved(saved.id)
  })
  return (
    <Dialog title={plugin ? `Document of ${plugin.name}` : 'Install a plugin'} onClose={onClose} isWide>
      <Form
        action={save}
        submit={plugin ? 'Save' : found?.installed ? 'Replace the installed one' : 'Install'}
        onCancel={onClose}
        isIncomplete={found?.valid !== true}
      >
        <DocumentEditor
          text={text}
          onInput={setText}
          problems={found?.problems ?? []}
          warnings={found?.warnings ?? []}
        />
        <Problem of={check.problem} />
        {found?.valid && (
          <Notice kind="good">
            <span class="text">
              {found.id} is valid
              {found.installed && !plugin && '; a plugin of that id is installed and would be replaced'}.
            </span>
          </Notice>
        )}
        {!plugin && <Check label="Make it the active one" isOn={activates} onInput={setActivates} />}
      </Form>
    </Dialog>
  )
}
