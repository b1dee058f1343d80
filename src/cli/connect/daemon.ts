import { AppError } from '../../errors.ts'
import { serviceUrl } from '../../http/http.ts'
import { installationId } from '../../installation-id.ts'
import { rootOf } from '../remote/root.ts'
import { findServer } from '../remote/target.ts'
import type { Cli } from '../terminal/cli.ts'

/**
 * The address of the daemon without a slash at its end: the server of the command, else that of `aichat serve` on this machine.
 * Throws `unavailable` where none answers, `usage` where an unnamed one works on another data folder.
 */
export async function findDaemon(cli: Cli): Promise<string> {
  const target = await findServer(cli)
  const settings = await cli.settings()
  const { listen, paths } = settings
  const server = target?.url ?? serviceUrl(listen.host, listen.port)
  const root = await rootOf(server)
  if (root?.['name'] !== 'aichat-toolkit')
    throw new AppError('unavailable', `No aichat answers at ${server}`, {
      details: target
        ? ['Start one there: aichat serve']
        : ['Start it: aichat serve', 'or name the address of another: --server URL'],
    })
  const installation = root['installation']
  if (target || typeof installation !== 'string' || installation === installationId(settings)) return server
  throw new AppError('usage', `The aichat at ${server} works on another data folder than this command`, {
    details: [`To use it: --server ${server}`, `To serve ${paths.data}: aichat serve api --port PORT`],
  })
}
