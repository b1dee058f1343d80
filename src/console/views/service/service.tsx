import { Page } from '../../components/page.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { linkTo, type ViewProps } from '../../page/route.ts'
import { FullBackups } from './full-backups.tsx'
import { LocalModels } from './local-models.tsx'
import { SettingList } from './setting-list.tsx'
import { ToolServers } from './tool-servers.tsx'

const parts = [
  ['models', 'Models', LocalModels],
  ['backups', 'Backups', FullBackups],
  ['settings', 'Settings', SettingList],
  ['tools', 'Tool servers', ToolServers],
] as const

/** The installation itself, for administrators. */
export function Service({ route }: ViewProps) {
  const [part] = route.rest
  const [current, , Part] = parts.find(([name]) => name === part) ?? parts[0]
  return (
    <Page title="Service" lead="What this installation has on its machine, and how it is set">
      <Tabs
        label="Parts of the service"
        tabs={parts.map(([name, title]) => [linkTo('service', name), title, name === current])}
      />
      <Part />
    </Page>
  )
}
