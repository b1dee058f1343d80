import { stateColumn, textColumn } from '../../components/columns.tsx'
import { Listing } from '../../components/listing.tsx'
import { ask } from '../../wire/client.ts'
import type { Reloaded, Setting } from '../../wire/types.ts'
import { useList } from '../../wire/use-data.ts'

/** The settings with their values and sources; what changed in their file is taken over here. */
export function SettingList() {
  const data = useList<Setting>('/api/settings', 'settings')
  return (
    <Listing<Setting>
      title="Settings"
      data={data}
      keyOf={({ name }) => name}
      main={{ icon: 'refresh', words: 'Take over changes', work: takeOver }}
      columns={[
        textColumn('Setting', ({ name }) => name),
        { name: 'Value', of: ({ value }) => <span class="text">{value || '–'}</span>, value: ({ value }) => value },
        textColumn('From', ({ origin, variable }) => (origin === 'environment' ? variable : origin)),
        stateColumn('A change', ({ live }) => (live ? 'at once' : 'after a restart'), { 'at once': 'good' }),
        { name: 'Meaning', of: ({ what }) => what, value: ({ what }) => what },
      ]}
    >
      <p class="muted">
        A setting is changed with <code>aichat config set NAME VALUE</code> on the machine of the service.
      </p>
    </Listing>
  )
}

/** Has the service take over its settings file, secrets and plugins. */
async function takeOver(): Promise<string> {
  const { changed, needs_restart: waiting } = await ask<Reloaded>('POST', '/api/service/reload', { body: {} })
  const later = waiting.length > 0 ? `; after a restart: ${waiting.join(', ')}` : ''
  return `Taken over: ${changed.join(', ') || 'nothing had changed'}${later}`
}
