import { Problem } from '../../components/notice.tsx'
import { Page, Section } from '../../components/page.tsx'
import { count } from '../../page/format.ts'
import type { ViewProps } from '../../page/route.ts'
import { goTo } from '../../page/route.ts'
import { ask } from '../../wire/client.ts'
import type { FollowedRequest, Load, Status } from '../../wire/types.ts'
import { useData } from '../../wire/use-data.ts'
import { Places } from './places.tsx'
import { RequestList } from './request-list.tsx'
import { RequestStory } from './request-story.tsx'

/** How often the view polls: milliseconds. */
const everyMs = 1000
/** Circuits and runners change less often. */
const slowlyMs = 10_000

/** The live view: requests under way and the latest ones, and the places that answer them. */
export function Now({ route }: ViewProps) {
  const requests = useData<{ requests: readonly FollowedRequest[]; live: number }>(
    (signal) => ask('GET', '/api/requests', { signal }),
    [],
    everyMs,
  )
  const status = useData<Status>((signal) => ask('GET', '/api/status', { signal }), [], slowlyMs)
  const load = useData<Load>((signal) => ask('GET', '/api/load', { signal }), [], slowlyMs)
  const { requests: list = [], live = 0 } = requests.value ?? {}
  const [id] = route.rest
  return (
    <Page
      title="Now"
      lead={requests.value && (live === 1 ? '1 request under way' : `${count(live)} requests under way`)}
    >
      <Problem of={requests.problem ?? status.problem ?? load.problem} />
      <Places status={status.value} load={load.value} />
      <Section title="Requests">
        <RequestList requests={list} isLoading={requests.value === undefined} />
      </Section>
      {id !== undefined && <RequestStory key={id} id={id} onClose={() => goTo('now')} />}
    </Page>
  )
}
