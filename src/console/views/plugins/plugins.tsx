import type { ViewProps } from '../../page/route.ts'
import { PluginList } from './plugin-list.tsx'
import { PluginPage } from './plugin-page.tsx'

/** The list of plugins, or one of them. */
export function Plugins({ route }: ViewProps) {
  const [id] = route.rest
  return id === undefined ? <PluginList /> : <PluginPage key={id} id={id} />
}
