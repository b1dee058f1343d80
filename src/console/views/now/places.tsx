import { Badge } from '../../components/badge.tsx'
import { count } from '../../page/format.ts'
import type { Load, Status } from '../../wire/types.ts'

/** The places that can answer now: the plugin, the local runner, the circuits and the speech queues. */
export function Places({ status, load }: { readonly status: Status | undefined; readonly load: Load | undefined }) {
  return (
    <div class="tiles even">
      {status && <ActivePlugin status={status} />}
      {status && <Runner runner={status.local_runner} />}
      {load && <Circuits circuits={load.circuits} />}
      {load?.speech.map((server) => (
        <SpeechQueue key={server.server} server={server} />
      ))}
    </div>
  )
}

function ActivePlugin({ status: { active_plugin: active } }: { readonly status: Status }) {
  const isReady = active?.state === 'ready'
  return (
    <div class="tile">
      <p class="name">
        Active plugin
        {active && (
          <Badge tone={isReady ? 'good' : 'warning'}>{isReady ? 'ready' : active.state.replace('_', ' ')}</Badge>
        )}
      </p>
      <p class="figure" dir="auto">
        {active?.id ?? 'none'}
      </p>
      <p class="muted text">{active ? active.model : 'chats go to the local runner'}</p>
    </div>
  )
}

function Runner({ runner: { reachable, models, url } }: { readonly runner: Status['local_runner'] }) {
  return (
    <div class="tile">
      <p class="name">
        Local runner
        <Badge tone={reachable ? 'good' : 'plain'}>{reachable ? 'running' : 'not running'}</Badge>
      </p>
      <p class="figure">{models.length === 1 ? '1 model' : `${count(models.length)} models`}</p>
      <p class="muted text">{url}</p>
    </div>
  )
}

function Circuits({ circuits }: { readonly circuits: Load['circuits'] }) {
  return (
    <div class="tile">
      <p class="name">
        Circuits
        <Badge tone={circuits.length > 0 ? 'bad' : 'good'}>{circuits.length > 0 ? 'open' : 'closed'}</Badge>
      </p>
      <p class="figure">{circuits.length === 0 ? 'all closed' : `${count(circuits.length)} open`}</p>
      {circuits.length === 0 && <p class="muted">every place is asked</p>}
      {circuits.map(({ plugin, runner, model, state }) => (
        <p key={`${plugin} ${runner} ${model}`} class="muted text">
          {plugin ?? runner}: {model} {state === 'half-open' && '(tried again)'}
        </p>
      ))}
    </div>
  )
}

function SpeechQueue({ server: { name, inside, waiting, spoken } }: { readonly server: Load['speech'][number] }) {
  return (
    <div class="tile">
      <p class="name">
        {name}
        <Badge tone={inside > 0 ? 'busy' : 'plain'}>{inside > 0 ? 'speaking' : 'idle'}</Badge>
      </p>
      <p class="figure">{waiting === 0 ? 'no queue' : `${count(waiting)} waiting`}</p>
      <p class="muted">{spoken === 1 ? '1 piece spoken' : `${count(spoken)} pieces spoken`}</p>
    </div>
  )
}
