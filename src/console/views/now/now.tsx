import { Problem } from '../../components/notice.tsx'
import { Page, Section } from '../../components/page.tsx'
import { count } from '../../page/format.ts'
import type { ViewProps } from '../../page/route.ts'
import { goTo, linkTo } from '../../page/route.ts'
import { ask } from '../../wire/client.ts'
import type { FollowedRequest, LastHour as Hour, Load, Status } from '../../wire/types.ts'
import { useData } from '../../wire/use-data.ts'
import { LastHour } from './last-hour.tsx'
import { RequestList } from './request-list.tsx'
import { RequestStory } from './request-story.tsx'
import { Troubles } from './troubles.tsx'

/** How often the view polls: milliseconds. */
const everyMs = 1000
/** Circuits and runners change less often. */
const slowlyMs = 10_000

/** The place to look first: the last hour, what is wrong, who answers, the requests under way and the latest ones. */
export function Now({ route }: ViewProps) {
  const requests = useData<{ requests: readonly FollowedRequest[]; live: number }>(
    (signal) => ask('GET', '/api/requests', { signal }),
    [],
    everyMs,
  )
  const status = useData<Status>((signal) => ask('GET', '/api/status', { signal }), [], slowlyMs)
  const load = useData<Load>((signal) => ask('GET', '/api/load', { signal }), [], slowlyMs)
  const hour = useData<Hour>((signal) => ask('GET', '/api/usage/last-hour', { signal }), [], slowlyMs)
  const { requests: list = [], live = 0 } = requests.value ?? {}
  const [id] = route.rest
  return (
    <Page title="Now" lead={requests.value && status.value && leadOf(live, status.value)}>
      <Problem of={requests.problem ?? status.problem ?? load.problem ?? hour.problem} />
      {hour.value && <LastHour hour={hour.value} />}
      {status.value && load.value && hour.value && (
        <Troubles status={status.value} load={load.value} hour={hour.value} />
      )}
      <Section title="Requests" actions={<a href={linkTo('usage', 'requests')}>All requests</a>}>
        <RequestList requests={list} isLoading={requests.value === undefined} />
      </Section>
      {id !== undefined && <RequestStory key={id} id={id} onClose={() => goTo('now')} />}
    </Page>
  )
}

/** How many requests are under way, and who answers chats. */
function leadOf(live: number, { active_plugin: active, local_runner: runner }: Status): string {
  const number = live === 1 ? '1 request under way' : `${count(live)} requests under way`
  const answers = active ? `${active.id}: ${active.model}` : runner.models[0]
  return answers === undefined ? number : `${number}; ${answers} answers chats`
}
