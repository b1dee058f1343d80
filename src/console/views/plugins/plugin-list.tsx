import { useState } from 'preact/hooks'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Notice, Problem } from '../../components/notice.tsx'
import { Page } from '../../components/page.tsx'
import { Table } from '../../components/table.tsx'
import { tell } from '../../components/toasts.tsx'
import { count } from '../../page/format.ts'
import { goTo, linkTo } from '../../page/route.ts'
import { useSession } from '../../page/session.ts'
import { ask, path } from '../../wire/client.ts'
import type { Plugin } from '../../wire/types.ts'
import { useAction } from '../../wire/use-action.ts'
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
  const activate = useAction(async ({ id }: Plugin) => {
    const { warnings } = await ask<{ warnings: readonly string[] }>('POST', path`/api/plugins/activate/${id}`, {
      body: {},
    })
    tell(warnings[0] ?? `${id} is active`)
    data.reload()
  })
  const refresh = useRefresh(undefined, data.reload)
  const { plugins = [], broken = [] } = data.value ?? {}
  return (
    <Page
      title="Plugins and models"
      lead="Each one is a provider, or a speech server, with its models."
      actions={
        isAdmin && (
          <>
            <RefreshButton action={refresh} label="Refresh models" />
            <Button kind="main" icon="add" onClick={() => setInstalling(true)}>
              Install
            </Button>
          </>
        )
      }
    >
      <Problem of={data.problem ?? activate.problem ?? refresh.problem} />
      {broken.map(({ id, problems }) => (
        <Notice key={id} kind="warning">
          <strong class="text">{id} cannot be used</strong>
          {problems.map((problem) => (
            <p key={problem} class="text">
              {problem}
            </p>
          ))}
        </Notice>
      ))}
      {plugins.length > 0 && (
        <Table
          caption="Plugins"
          rows={plugins}
          keyOf={({ id }) => id}
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
            },
            { name: 'State', of: (plugin) => <PluginState plugin={plugin} /> },
            { name: 'Kind', of: ({ type }) => type, isExtra: true },
            { name: 'Models', of: ({ model_map }) => count(model_map.length), isNumber: true, isExtra: true },
            { name: 'From', of: ({ source, overridden }) => (overridden ? 'bundled, changed' : source), isExtra: true },
            {
              name: '',
              of: (plugin) =>
                plugin.active ? (
                  <Badge tone="good">active</Badge>
                ) : (
                  isAdmin && (
                    <Button isBusy={activate.isRunning} onClick={() => void activate.run(plugin)}>
                      Activate
                    </Button>
                  )
                ),
              isNumber: true,
            },
          ]}
        />
      )}
      {isInstalling && <DocumentDialog onClose={() => setInstalling(false)} onSaved={(id) => goTo('plugins', id)} />}
    </Page>
  )
}
