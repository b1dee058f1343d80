import { AppError } from '../../errors.ts'
import { serviceUrl } from '../../http/service-url.ts'
import { installationId } from '../../installation-id.ts'
import { systemInfo } from '../../operations/auth.ts'
import { findServer } from '../remote/contexts.ts'
import type { Cli } from '../terminal/cli.ts'

/** How long a daemon of this machine may take to say what it is: milliseconds. */
const patienceMs = 1_000

/**
 * Before the first user is made in this process: throws `usage` when a daemon answers at the usual address which has no
 * user either and works on another data folder, since that is then most likely the one that was meant.
 */
export async function refuseBesideOtherDaemon(cli: Cli, command: string): Promise<void> {
  if (cli.globals().local || (await findServer(cli))) return
  const { listen, paths } = await cli.settings()
  const url = serviceUrl(listen.host, listen.port)
  const told = await rootOf(url)
  if (told?.['name'] !== 'aichat-toolkit' || told['needs_setup'] !== true) return
  const other = told['installation']
  if (typeof other !== 'string' || other === installationId(paths.data)) return
  if (!(await cli.ask(systemInfo, {})).needs_setup) return
  throw new AppError('usage', `The aichat that serves at ${url} works on another data folder than this command`, {
    details: [
      `To create its administrator: aichat --server ${url} ${command}`,
      `To create one for ${paths.data} all the same: aichat --local ${command}`,
    ],
  })
}

async function rootOf(url: string): Promise<Record<string, unknown> | undefined> {
  try {
    const response = await fetch(`${url}/`, { signal: AbortSignal.timeout(patienceMs), redirect: 'manual' })
    return (await response.json()) as Record<string, unknown>
  } catch {
    return undefined
  }
}
