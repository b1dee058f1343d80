import { useState } from 'preact/hooks'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Confirm } from '../../components/confirm.tsx'
import { Problem } from '../../components/notice.tsx'
import { Page, Section } from '../../components/page.tsx'
import { tell } from '../../components/toasts.tsx'
import { count } from '../../page/format.ts'
import { goTo, linkTo } from '../../page/route.ts'
import { useSession } from '../../page/session.ts'
import { ask, path } from '../../wire/client.ts'
import { save } from '../../wire/save.ts'
import type { Plugin } from '../../wire/types.ts'
import { useAction } from '../../wire/use-action.ts'
import { useData } from '../../wire/use-data.ts'
import { DocumentDialog } from './document-dialog.tsx'
import { PluginKeyPart } from './plugin-key.tsx'
import { PluginState } from './plugin-state.tsx'
import { PluginTestPart } from './plugin-test.tsx'
import { RefreshButton, useRefresh } from './refresh-button.tsx'

/** One plugin: its document, its models, and the actions on it. */
export function PluginPage({ id }: { readonly id: string }) {
  const { isAdmin } = useSession()
  const [dialog, setDialog] = useState<'edit' | 'remove'>()
  const data = useData<Plugin>((signal) => ask('GET', path`/api/plugins/${id}`, { signal }), [id])
  const plugin = data.value
  const toggle = useAction(async (given: Plugin) => {
    const kind = given.type === 'completion' ? 'chat' : given.type
    await (given.active
      ? ask('POST', '/api/plugins/deactivate', { query: { type: kind }, body: {} })
      : ask('POST', path`/api/plugins/activate/${id}`, { body: {} }))
    tell(given.active ? `${id} is no longer active` : `${id} is active`)
    data.reload()
  })
  const refresh = useRefresh(id, data.reload)
  const download = useAction(() => save('GET', path`/api/plugins/${id}/export`, `${id}.json`))
  return (
    <Page
      title={plugin?.name ?? id}
      lead={<a href={linkTo('plugins')}>All plugins</a>}
      actions={
        plugin && (
          <>
            {isAdmin && (
              <Button isBusy={toggle.isRunning} onClick={() => void toggle.run(plugin)}>
                {plugin.active ? 'Deactivate' : 'Activate'}
              </Button>
            )}
            {isAdmin && (
              <Button icon="edit" onClick={() => setDialog('edit')}>
                Edit
              </Button>
            )}
            <Button
              icon="download"
              label="Save the document"
              isBusy={download.isRunning}
              onClick={() => void download.run()}
            />
            {isAdmin && <Button icon="trash" label="Remove the plugin" onClick={() => setDialog('remove')} />}
          </>
        )
      }
    >
      <Problem of={data.problem ?? toggle.problem ?? download.problem ?? refresh.problem} />
      {plugin && <Facts plugin={plugin} />}
      {plugin && isAdmin && <PluginKeyPart plugin={plugin} onChanged={data.reload} />}
      {plugin && isAdmin && <PluginTestPart plugin={plugin} />}
      {plugin && (
        <Section
          title={`Models (${count(plugin.model_map.length)})`}
          actions={isAdmin && <RefreshButton action={refresh} label="Refresh" />}
        >
          <Models plugin={plugin} />
        </Section>
      )}
      {dialog === 'edit' && plugin && (
        <DocumentDialog plugin={plugin} onClose={() => setDialog(undefined)} onSaved={data.reload} />
      )}
      {dialog === 'remove' && plugin && (
        <Confirm
          title={`Remove ${plugin.name}?`}
          submit="Remove"
          work={() => ask('DELETE', path`/api/plugins/${id}`)}
          onDone={() => goTo('plugins')}
          onClose={() => setDialog(undefined)}
        >
          {plugin.overridden ? 'The bundled document comes back in its place.' : 'Chats no longer go there.'}
        </Confirm>
      )}
    </Page>
  )
}

function Facts({ plugin }: { readonly plugin: Plugin }) {
  const { id, active, endpoint, auth, type, description, fallback = [] } = plugin
  const names = fallback.map((entry) => (typeof entry === 'string' ? entry : entry.plugin))
  return (
    <dl class="facts">
      <dt>State</dt>
      <dd class="row">
        <PluginState plugin={plugin} />
        {active && <Badge tone="good">active</Badge>}
      </dd>
      <dt>Id</dt>
      <dd class="mono">{id}</dd>
      <dt>Kind</dt>
      <dd>{type}</dd>
      <dt>Address</dt>
      <dd class="mono">{endpoint}</dd>
      <dt>Key</dt>
      <dd>{auth.key_env === '' ? 'none needed' : <span class="mono">{auth.key_env}</span>}</dd>
      {names.length > 0 && (
        <>
          <dt>Falls back to</dt>
          <dd>{names.join(', ')}, then the local runner</dd>
        </>
      )}
      {description && (
        <>
          <dt>Description</dt>
          <dd class="text">{description}</dd>
        </>
      )}
    </dl>
  )
}

/** Models that are shown before a person searches: some providers have hundreds. */
const mostShown = 60

function Models({ plugin: { model_map, default_model } }: { readonly plugin: Plugin }) {
  const [query, setQuery] = useState('')
  const found = model_map.filter((model) => model.toLowerCase().includes(query.trim().toLowerCase()))
  return (
    <>
      {model_map.length > mostShown && (
        <input
          class="input"
          type="search"
          aria-label="Search the models"
          placeholder="Search"
          value={query}
          onInput={({ currentTarget }) => setQuery(currentTarget.value)}
        />
      )}
      <ul class="names">
        {found.slice(0, mostShown).map((model) => (
          <li key={model} class="mono text">
            {model} {model === (default_model ?? model_map[0]) && <Badge>default</Badge>}
          </li>
        ))}
      </ul>
      {found.length > mostShown && <p class="muted">and {count(found.length - mostShown)} more</p>}
    </>
  )
}
