import type { ComponentChildren } from 'preact'
import { Dialog } from '../../components/dialog.tsx'
import { Problem } from '../../components/notice.tsx'
import { count, dateTime, dollars, duration } from '../../page/format.ts'
import { ask, path } from '../../wire/client.ts'
import type { FollowedRequest } from '../../wire/types.ts'
import { useData } from '../../wire/use-data.ts'
import { modelOf } from './request-list.tsx'
import { RequestState } from './request-state.tsx'

/** The whole story of a request: its user, every place that was asked, and the outcome. */
export function RequestStory({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { value: request, problem } = useData<FollowedRequest>(
    (signal) => ask('GET', path`/api/requests/${id}`, { signal }),
    [id],
    1000,
  )
  return (
    <Dialog title={request ? modelOf(request) : 'Request'} onClose={onClose} isWide>
      <Problem of={problem} />
      {request && (
        <>
          <RequestState request={request} />
          <Facts request={request} />
          <h3>What happened</h3>
          <Attempts request={request} />
        </>
      )}
    </Dialog>
  )
}

function Facts({ request }: { readonly request: FollowedRequest }) {
  const { estimated, input_tokens, output_tokens, cost_usd, first_content_ms: first, persona, memories } = request
  const facts: readonly (readonly [string, ComponentChildren])[] = [
    [
      'Caller',
      `${request.username ?? 'a removed user'}${request.key_name === null ? '' : `, key ${request.key_name}`}`,
    ],
    ['Purpose', request.purpose.replace('_', ' ')],
    ['Asked for', request.asked_model ?? 'the default model'],
    ...(persona === null
      ? []
      : [['Persona', `${persona}, with ${memories === 1 ? '1 memory' : `${count(memories)} memories`}`] as const]),
    ['Begun', dateTime(request.started_at)],
    ['First token', first === null ? 'not streamed' : `after ${duration(first)}`],
    ['Took', duration(request.duration_ms)],
    [
      'Tokens',
      `${input_tokens === null ? '' : `${count(input_tokens)} in, `}${estimated ? 'about ' : ''}${count(output_tokens)} out`,
    ],
    ['Cost', cost_usd === null ? 'no known price' : dollars(Number(cost_usd))],
    ['Request id', <span class="mono">{request.request_id}</span>],
  ]
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd dir="auto">{value}</dd>
        </>
      ))}
    </dl>
  )
}

function Attempts({ request: { attempts, state, place, problem } }: { readonly request: FollowedRequest }) {
  const isAsking = state === 'asking'
  return (
    <ol class="steps">
      {attempts.map(({ plugin, runner, model, outcome, error, status, class: kind, tries, duration_ms }, at) => (
        <li key={at} class={outcome === 'answered' ? 'good' : 'bad'}>
          <strong>
            {plugin ?? runner}: {model} {outcome === 'answered' ? 'answered' : 'failed'}
          </strong>
          <span class="muted">
            {[
              tries === 0 ? 'nothing was sent' : tries === 1 ? 'one try' : `${count(tries)} tries`,
              duration_ms !== undefined && duration(duration_ms),
              status !== undefined && `status ${status}`,
              kind?.replace('_', ' '),
            ]
              .filter(Boolean)
              .join(', ')}
          </span>
          {error && <span class="text">{error}</span>}
        </li>
      ))}
      {isAsking && place && (
        <li>
          <strong>
            {place.plugin ?? place.runner}: {place.model} is asked
          </strong>
        </li>
      )}
      {state === 'cancelled' && <li>The caller stopped, or its login ended.</li>}
      {problem !== null && <li class="bad text">{problem}</li>}
    </ol>
  )
}
