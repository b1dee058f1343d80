import type { z } from 'zod'
import { counted } from '../../formats/formats.ts'
import { listLimits, listModels, serviceStatus } from '../../operations/operations.ts'
import { budgetText } from '../limit/actions.ts'
import type { Cli } from '../terminal/cli.ts'
import { note, print } from '../terminal/output.ts'
import { labelled } from '../terminal/table.ts'

/** The most budgets near their ends that are named one by one; further ones are counted. */
const mostBudgets = 5

/** Nothing is asked here: a provider that is set up may still refuse its key, or be down. */
const stateWords: Readonly<Record<string, string>> = {
  ready: 'set up',
  key_missing: 'needs its key',
  retired: 'retired',
}

/** Prints the active plugin, the local runner and the user, with a note where no model would answer. */
export async function showStatus(cli: Cli): Promise<void> {
  const { server = null } = await cli.backend()
  const status = { mode: server ? 'remote' : 'local', server, ...(await cli.ask(serviceStatus, {})) }
  await print(
    cli,
    status,
    ({ mode, version, user, active_plugin: plugin, local_runner: runner, instance, database, workers = [] }) =>
      labelled(
        [
          ['mode', `${mode}${server ? ` (${server})` : ''}`],
          ['version', version],
          ...(instance === undefined ? [] : [['instance', instance] as const]),
          ...(database === undefined
            ? []
            : [['database', `${database.name ?? 'shared'}${database.reachable ? '' : ' (away)'}`] as const]),
          ...workers.map(({ worker, ...state }) => [`worker ${worker}`, workerText(state)] as const),
          ['user', `${user.username} (${user.role})`],
          ['plugin', plugin ? `${plugin.id}, ${stateWords[plugin.state]}, ${plugin.model}` : 'none is active'],
          [
            'runner',
            `${runner.url} ${runner.reachable ? `with ${counted(runner.models.length, 'model')}` : 'does not answer'}`,
          ],
        ],
        10,
      ),
  )
  if (status.usage_trouble !== undefined)
    note(cli, `aichat: usage cannot be written and waits: ${status.usage_trouble}`)
  const { limits } = await cli.ask(listLimits, {})
  const near = limits.flatMap(({ subject, budgets }) =>
    budgets.filter(({ warning }) => warning).map((budget) => `the budget of ${subject} is at ${budgetText(budget)}`),
  )
  for (const line of near.slice(0, mostBudgets)) note(cli, `aichat: ${line}`)
  if (near.length > mostBudgets)
    note(cli, `aichat: and ${near.length - mostBudgets} more budgets; \`aichat limit list\` shows all`)
  if (status.active_plugin?.state === 'key_missing')
    note(
      cli,
      'aichat: the key of the active plugin is not set here: until it is, chats go to its fallback or to a model of this ' +
        'machine; `aichat plugin status` names the variable',
    )
  if (status.active_plugin || status.local_runner.reachable) return
  const { models } = await cli.ask(listModels, { installed: true })
  if (models.some(({ type }) => type === 'chat')) return
  note(cli, 'aichat: no model would answer a chat; `aichat setup` chooses one')
}

function workerText({ pid, phase, memory_bytes: bytes, cpu_seconds: seconds, connections, restarts }: Worker): string {
  if (phase !== 'ready') return 'is started'
  const again = restarts > 0 ? `, restarted ${counted(restarts, 'time')}` : ''
  return `pid ${pid}, ${Math.round(bytes / 1_000_000)} MB, ${seconds.toFixed(1)} s of CPU, ${counted(connections, 'connection')}${again}`
}

type Worker = Omit<NonNullable<z.output<typeof serviceStatus.output>['workers']>[number], 'worker'>
