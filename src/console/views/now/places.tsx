import { Badge } from '../../components/badge.tsx'
import { Tile } from '../../components/tile.tsx'
import { count } from '../../page/format.ts'
import type { Load, Status } from '../../wire/types.ts'

/** The places that answer: the active plugin, the local runner and the speech servers. */
export function Places({ status, load }: { readonly status: Status | undefined; readonly load: Load | undefined }) {
  return (
    <div class="tiles small">
      {status && <ActivePlugin plugin={status.active_plugin} />}
      {status && <Runner runner={status.local_runner} />}
      {load?.speech.map(({ server, name, inside, waiting, spoken }) => (
        <Tile
          key={server}
          name={
            <>
              {name} <Badge tone={inside > 0 ? 'busy' : 'plain'}>{inside > 0 ? 'speaking' : 'idle'}</Badge>
            </>
          }
          figure={waiting === 0 ? 'no queue' : `${count(waiting)} waiting`}
          note={spoken === 1 ? '1 piece spoken' : `${count(spoken)} pieces spoken`}
        />
      ))}
    </div>
  )
}

function ActivePlugin({ plugin }: { readonly plugin: Status['active_plugin'] }) {
  const isReady = plugin?.state === 'ready'
  return (
    <Tile
      name={
        <>
          Active plugin
          {plugin && (
            <Badge tone={isReady ? 'good' : 'warning'}>{isReady ? 'ready' : plugin.state.replace('_', ' ')}</Badge>
          )}
        </>
      }
      figure={plugin?.id ?? 'none'}
      note={plugin?.model ?? 'chats go to the local runner'}
    />
  )
}

function Runner({ runner: { reachable, models, url } }: { readonly runner: Status['local_runner'] }) {
  return (
    <Tile
      name={
        <>
          Local runner
          <Badge tone={reachable ? 'good' : 'plain'}>{reachable ? 'running' : 'not running'}</Badge>
        </>
      }
      figure={models.length === 1 ? '1 model' : `${count(models.length)} models`}
      note={url}
    />
  )
}
