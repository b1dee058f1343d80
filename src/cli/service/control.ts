import { type FSWatcher, watch } from 'node:fs'
import { join } from 'node:path'
import { runningServices, type ServiceRecord } from '../../app/app.ts'
import { AppError } from '../../errors.ts'
import { reloadService, runningService } from '../../operations/operations.ts'
import { readSettings, type Settings } from '../../settings/settings.ts'
import { findServer } from '../remote/target.ts'
import type { Cli } from '../terminal/cli.ts'
import { note, print } from '../terminal/output.ts'
import { labelled } from '../terminal/table.ts'
import { momentText } from '../terminal/times.ts'

/** Prints the services on this data folder, or that of a server. Exit 0 where one answers, 69 where none runs, 75 while all start or stop. */
export async function showService(cli: Cli): Promise<void> {
  const { isRemote, settings } = await placeOf(cli)
  const services = isRemote ? [await cli.ask(runningService, {})] : localServices(settings)
  if (services.length === 0) throw noService()
  if (!services.some(({ phase }) => phase === 'ready')) cli.exit = 75
  await print(cli, { services }, () => services.map((service) => serviceText(cli, service)).join('\n\n'))
}

/** Has services take over settings, secrets, plugins. Exit 78 for nothing, 1 for an old plugin, 69 for no service. */
export async function reload(cli: Cli): Promise<void> {
  const { isRemote, settings } = await placeOf(cli)
  if (isRemote) return reloadOverHttp(cli)
  const services = localServices(settings)
  if (services.length === 0) throw noService()
  const reloaded: ServiceRecord[] = []
  for (const service of services) reloaded.push(await reloadBySignal(settings, service))
  const refused = reloaded.find(({ last_reload: last }) => last?.outcome === 'refused')?.last_reload
  if (refused) throw new AppError('configuration', refused.message, { details: refused.details })
  if (reloaded.some(({ last_reload: last }) => last?.outcome !== 'taken over')) cli.exit = 1
  await print(cli, { services: reloaded }, () =>
    reloaded
      .map(({ pid, last_reload: last }) => [`${pid}: ${last!.message}`, ...last!.details.map(indented)].join('\n'))
      .join('\n'),
  )
}

async function reloadOverHttp(cli: Cli): Promise<void> {
  const outcome = await cli.ask(reloadService, {})
  if (outcome.rejected_plugins.length > 0) cli.exit = 1
  await print(cli, outcome, ({ changed, secrets, needs_restart: waiting }) =>
    labelled(
      [
        ['changed', changed.join(', ') || 'no setting'],
        ['secrets', secrets.join(', ')],
        ['at a restart', waiting.join(', ')],
      ],
      14,
    ),
  )
  for (const { id, problems } of outcome.rejected_plugins)
    note(cli, `aichat: invalid plugin "${id}", which is not taken over: ${problems.join('; ')}`)
  for (const warning of outcome.warnings) note(cli, `aichat: ${warning}`)
}

/** Where to ask. A settings file that cannot be read hides no service: the folders are known without it. */
async function placeOf(cli: Cli): Promise<{ readonly isRemote: boolean; readonly settings: Settings }> {
  try {
    return { isRemote: (await findServer(cli)) !== undefined, settings: await cli.settings() }
  } catch (thrown) {
    const isOwn = thrown instanceof AppError && thrown.code === 'configuration' && cli.globals().server === undefined
    if (!isOwn) throw thrown
    return { isRemote: false, settings: readSettings(cli.io.environment, {}) }
  }
}

function serviceText(
  cli: Cli,
  { pid, version, phase, started_at: since, servers, workers, last_reload: last }: ServiceRecord,
): string {
  return labelled(
    [
      ['pid', `${pid}, aichat ${version}`],
      ['phase', phase],
      ['since', momentText(cli, since)],
      ...servers.map(({ name, url }) => [name, url] as const),
      ['workers', workers?.map(({ pid }) => `pid ${pid}`).join(', ')],
      ['last reload', last ? `${momentText(cli, last.at)}: ${last.outcome}` : undefined],
      ...(last?.details ?? []).map((line) => [' ', line] as const),
    ],
    14,
  )
}

function noService(): AppError {
  return new AppError('unavailable', 'No service runs on this data folder', {
    details: [
      'Start one: aichat serve',
      `one of systemd: systemctl status ${unitName}`,
      'or ask another: --server URL',
    ],
  })
}

function indented(line: string): string {
  return `  ${line}`
}

const unitName = 'aichat.service'

/** How long a service may take for a reload: milliseconds. */
const waitMs = 15_000

/** The services on the data folder of these settings. */
function localServices({ paths }: Settings): readonly ServiceRecord[] {
  return runningServices(paths.state)
}

/**
 * Has a service of this machine reload by SIGHUP; resolves with its record once it has written the outcome. Throws `forbidden`
 * for a service of another user, `unavailable` for one that a terminal would end or that is still starting, and `timeout`.
 */
async function reloadBySignal(settings: Settings, service: ServiceRecord): Promise<ServiceRecord> {
  if (service.phase === 'starting')
    throw new AppError('unavailable', `The service ${service.pid} is still starting: try again once it is ready`)
  if (!service.reloads_on_hangup)
    throw new AppError('unavailable', `The service ${service.pid} belongs to a terminal: SIGHUP would end it`, {
      details: [`Log in and ask it: aichat --server ${service.servers[0]?.url ?? 'URL'} service reload`],
    })
  const find = () => localServices(settings).find(({ pid }) => pid === service.pid)
  let watcher: FSWatcher | undefined
  let timer: NodeJS.Timeout | undefined
  try {
    return await new Promise((resolve, reject) => {
      const look = () => {
        const now = find()
        if (!now) reject(new AppError('unavailable', `The service ${service.pid} has ended`))
        else if (now.reloads > service.reloads) resolve(now)
      }
      watcher = watch(join(settings.paths.state, 'services'), look)
      timer = setTimeout(() => {
        reject(new AppError('timeout', `The service ${service.pid} did not say how its reload went`))
      }, waitMs)
      process.kill(service.pid, 'SIGHUP')
    })
  } catch (reason) {
    const { code } = reason as NodeJS.ErrnoException
    if (code === 'ESRCH') throw new AppError('unavailable', `The service ${service.pid} has ended`)
    if (code !== 'EPERM') throw reason
    throw new AppError('forbidden', `The service ${service.pid} belongs to another user`, {
      details: [`Run this as that user, or: systemctl reload ${unitName}`],
    })
  } finally {
    clearTimeout(timer)
    watcher?.close()
  }
}
