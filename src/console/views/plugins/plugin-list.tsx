import { useState } from 'preact/hooks'
import { Badge } from '../../components/badge.tsx'
import { numberColumn, textColumn } from '../../components/columns.tsx'
import { Listing } from '../../components/listing.tsx'
import { Notice, Problem } from '../../components/notice.tsx'
import { Page } from '../../components/page.tsx'
import { count } from '../../page/format.ts'
import { goTo, linkTo } from '../../page/route.ts'
import { useSession } from '../../page/session.ts'
import { ask, path } from '../../wire/client.ts'
import type { Plugin } from '../../wire/types.ts'
import { useData } from '../../wire/use-data.ts'
import { DocumentDialog } from './document-dialog.tsx'
import { PluginState } from './plugin-state.tsx'
import { RefreshButton, useRefresh } from './refresh-button.tsx'

interface Listed {
  readonly plugins: readonly Plugin[]
  readonly broken: readonly { readonly id: string; readonly problems: readonly string[] }[]
}

/** The providers and speech servers that can be asked. */
export function PluginList() {
  const { isAdmin } = useSession()
  const [isInstalling, setInstalling] = useState(false)
  const data = useData<Listed>((signal) => ask('GET', '/api/plugins', { signal }), [])
  const refresh = useRefresh(undefined, data.reload)
  return (
    <Page title="Plugins and models" lead="Each one is a provider, or a speech server, with its models.">
      <Listing<Plugin>
        title="Installed"
        data={{ ...data, value: data.value?.plugins }}
        keyOf={({ id }) => id}
        controls={isAdmin && <RefreshButton action={refresh} label="Refresh models" />}
        {...(isAdmin && { main: { icon: 'add', kind: 'main', words: 'Install', work: () => setInstalling(true) } })}
        columns={[
          {
            name: 'Plugin',
            of: ({ id, name }) => (
              <>
                <a class="line" href={linkTo('plugins', id)}>
                  {name}
                </a>
                <span class="muted mono line">{id}</span>
              </>
            ),
            value: ({ id, name }) => `${name} ${id}`,
          },
          {
            name: 'State',
            of: (plugin) => (
              <span class="row">
                <PluginState plugin={plugin} />
                {plugin.active && <Badge tone="good">active</Badge>}
              </span>
            ),
            value: ({ state }) => state,
          },
          textColumn('Kind', ({ type }) => type, { isExtra: true }),
          numberColumn('Models', ({ model_map }) => model_map.length, count, { isExtra: true }),
          textColumn('From', ({ source, overridden }) => (overridden ? 'bundled, changed' : source), { isExtra: true }),
        ]}
        actions={[
          isAdmin && {
            icon: 'check',
            label: ({ name }) => `Activate ${name}`,
            isFor: ({ active }) => !active,
            async work({ id }) {
              const made = await ask<{ warnings: string[] }>('POST', path`/api/plugins/activate/${id}`, { body: {} })
              return made.warnings[0] ?? `${id} is active`
            },
          },
        ]}
      >
        <Problem of={refresh.problem} />
        {data.value?.broken.map(({ id, problems }) => (
          <Notice key={id} kind="warning">
            <strong class="text">{id} cannot be used</strong>
            {problems.map((problem) => (
              <p key={problem} class="text">
                {problem}
              </p>
            ))}
          </Notice>
        ))}
      </Listing>
      {isInstalling && <DocumentDialog onClose={() => setInstalling(false)} onSaved={(id) => goTo('plugins', id)} />}
    </Page>
  )
}
