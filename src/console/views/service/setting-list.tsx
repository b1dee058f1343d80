import { useState } from 'preact/hooks'
import { Badge } from '../../components/badge.tsx'
import { textColumn } from '../../components/columns.tsx'
import { Dialog, Form } from '../../components/dialog.tsx'
import { TextField } from '../../components/field.tsx'
import { Listing } from '../../components/listing.tsx'
import { ask, path } from '../../wire/client.ts'
import type { Reloaded, Setting } from '../../wire/types.ts'
import { useAction } from '../../wire/use-action.ts'
import { useList } from '../../wire/use-data.ts'

/** The settings with their values and sources: changed here where the service allows it, else taken over from their file. */
export function SettingList() {
  const data = useList<Setting>('/api/settings', 'settings')
  const [edited, setEdited] = useState<Setting>()
  return (
    <>
      <Listing<Setting>
        title="Settings"
        data={data}
        keyOf={({ name }) => name}
        main={{ icon: 'refresh', words: 'Take over changes', work: takeOver }}
        columns={[
          textColumn('Setting', ({ name }) => name),
          { name: 'Value', of: ({ value }) => <span class="text">{value || '–'}</span>, value: ({ value }) => value },
          textColumn('From', ({ origin, variable }) => (origin === 'environment' ? variable : origin)),
          {
            name: 'A change',
            of: ({ fixed }) => fixed ?? <Badge tone="good">here, at once</Badge>,
            value: ({ fixed }) => fixed ?? 'here, at once',
          },
          { name: 'Meaning', of: ({ what }) => what, value: ({ what }) => what },
        ]}
        actions={[
          {
            icon: 'edit',
            label: ({ name }) => `Change ${name}`,
            isFor: ({ fixed }) => fixed === null,
            work: setEdited,
          },
        ]}
      />
      {edited && <SettingDialog edited={edited} onClose={() => setEdited(undefined)} onSaved={data.reload} />}
    </>
  )
}

interface SettingDialogProps {
  readonly edited: Setting
  readonly onClose: () => void
  readonly onSaved: () => void
}

/** Writes a setting to the settings file and takes it over; an empty field leaves the default. */
function SettingDialog({ edited: { name, value: before, what }, onClose, onSaved }: SettingDialogProps) {
  const [value, setValue] = useState(before)
  const action = useAction(async () => {
    await ask('PUT', path`/api/settings/${name}`, { body: { value: value.trim() || null } })
    onClose()
    onSaved()
  })
  return (
    <Dialog title={`Change ${name}`} onClose={onClose}>
      <Form action={action} submit="Save" onCancel={onClose}>
        <TextField label="Value" value={value} onInput={setValue} isFirst hint={`${what}; empty for the default`} />
      </Form>
    </Dialog>
  )
}

/** Has the service take over its settings file, secrets and plugins. */
async function takeOver(): Promise<string> {
  const { changed, needs_restart: waiting } = await ask<Reloaded>('POST', '/api/service/reload', { body: {} })
  const later = waiting.length > 0 ? `; after a restart: ${waiting.join(', ')}` : ''
  return `Taken over: ${changed.join(', ') || 'nothing had changed'}${later}`
}
