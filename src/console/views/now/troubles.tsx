import { Badge } from '../../components/badge.tsx'
import { count } from '../../page/format.ts'
import { linkTo, linkWith } from '../../page/route.ts'
import { useSession } from '../../page/session.ts'
import type { LastHour, Load, Status } from '../../wire/types.ts'

interface Parts {
  readonly status: Status
  readonly load: Load
  readonly hour: LastHour
}

interface Trouble {
  readonly text: string
  /** The step that mends it. */
  readonly step?: readonly [href: string, name: string]
}

/** What is wrong now, each with the button that leads to its repair. */
export function Troubles(parts: Parts) {
  const { isAdmin } = useSession()
  const troubles = troublesOf(parts, isAdmin)
  if (troubles.length === 0)
    return (
      <p class="row">
        <Badge tone="good">all well</Badge> <span class="muted">Nothing needs you now.</span>
      </p>
    )
  return (
    <ul class="troubles">
      {troubles.map(({ text, step }) => (
        <li key={text} class="notice warning">
          <span class="text" dir="auto">
            {text}
          </span>
          {step && (
            <a class="button plain" href={step[0]}>
              {step[1]}
            </a>
          )}
        </li>
      ))}
    </ul>
  )
}

function troublesOf({ status, load, hour }: Parts, isAdmin: boolean): readonly Trouble[] {
  const { active_plugin: active, local_runner: runner, database, usage_trouble: trouble } = status
  const failed = hour.minutes.reduce((sum, minute) => sum + minute.failed, 0)
  const requests = hour.minutes.reduce((sum, minute) => sum + minute.requests, 0)
  const forAdmin = (...step: readonly [string, string]) => (isAdmin ? { step } : {})
  return [
    ...(active === null && runner.models.length === 0
      ? [
          {
            text: 'No provider is active, and no model runs on this machine.',
            ...forAdmin(linkTo('plugins'), 'Choose one'),
          },
        ]
      : []),
    ...(active && active.state !== 'ready'
      ? [
          {
            text: `The active plugin ${active.id} cannot answer: ${active.state === 'key_missing' ? 'it has no key' : active.state.replace('_', ' ')}.`,
            ...forAdmin(linkTo('plugins', active.id), 'Give it its key'),
          },
        ]
      : []),
    ...load.circuits.map(({ plugin, runner: local, model, state }) => ({
      text: `${plugin ?? local}: ${model} failed again and again${state === 'open' ? ' and is not asked for a while' : '; the next request tries it again'}.`,
      ...(plugin !== null && forAdmin(linkTo('plugins', plugin), 'Test it')),
    })),
    ...(database?.reachable === false ? [{ text: 'The database does not answer; nothing can be kept now.' }] : []),
    ...(trouble === undefined
      ? []
      : [{ text: `The usage of models waits in memory, since it cannot be written: ${trouble}` }]),
    ...(failed > 0
      ? [
          {
            text: `${count(failed)} of ${count(requests)} requests to models failed in the last hour.`,
            step: [linkWith({ since: hour.since, outcome: 'failed,broken' }, 'usage', 'requests'), 'See them'] as const,
          },
        ]
      : []),
  ]
}
