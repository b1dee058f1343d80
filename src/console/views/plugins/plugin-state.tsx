import { Badge } from '../../components/badge.tsx'
import type { Plugin } from '../../wire/types.ts'

/** Whether a plugin is ready, and the parts that it lacks. */
export function PluginState({ plugin: { state, auth } }: { readonly plugin: Plugin }) {
  if (state === 'ready') return <Badge tone="good">ready</Badge>
  if (state === 'retired') return <Badge>retired</Badge>
  return (
    <span class="row">
      <Badge tone="warning">no key</Badge>
      <span class="muted mono line extra">{auth.key_env}</span>
    </span>
  )
}
