import { AppError } from '../../errors.ts'
import { serviceUrl } from '../../http/http.ts'
import { installationId } from '../../installation-id.ts'
import { systemInfo } from '../../operations/operations.ts'
import { rootOf } from '../remote/root.ts'
import { findServer } from '../remote/target.ts'
import type { Cli } from '../terminal/cli.ts'

/** Throws `usage` before the first user is made beside a daemon without users that works on another data folder. */
export async function refuseBesideOtherDaemon(cli: Cli, command: string): Promise<void> {
  if (cli.globals().local || (await findServer(cli))) return
  const settings = await cli.settings()
  const { listen, paths } = settings
  const url = serviceUrl(listen.host, listen.port)
  const root = await rootOf(url)
  if (root?.['name'] !== 'aichat-toolkit' || root['needs_setup'] !== true) return
  const other = root['installation']
  if (typeof other !== 'string' || other === installationId(settings)) return
  if (!(await cli.ask(systemInfo, {})).needs_setup) return
  throw new AppError('usage', `The aichat at ${url} works on another data folder than this command`, {
    details: [
      `To create its administrator: aichat --server ${url} ${command}`,
      `To create one in ${paths.data}: aichat --local ${command}`,
    ],
  })
}
