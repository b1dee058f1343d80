import { AppError } from '../../errors.ts'
import { serviceUrl } from '../../http/http.ts'
import { installationId } from '../../installation-id.ts'
import { rootOf } from '../remote/root.ts'
import { findServer } from '../remote/target.ts'
import type { Cli } from '../terminal/cli.ts'

/** The address that clients are pointed at, and the reason for which it cannot answer them. */
export interface FoundDaemon {
  /** Without a slash at its end. */
  readonly server: string
  /** The user named the address. */
  readonly isNamed: boolean
  readonly problem?: AppError
}

/** Looks for the daemon: at the server of the command, else at the address of `aichat serve` on this machine. */
export async function findDaemon(cli: Cli): Promise<FoundDaemon> {
  const target = await findServer(cli)
  const settings = await cli.settings()
  const { listen, paths } = settings
  const server = target?.url ?? serviceUrl(listen.host, listen.port)
  const isNamed = target !== undefined
  const root = await rootOf(server)
  if (root?.['name'] !== 'aichat-toolkit') {
    const details = isNamed
      ? ['Start one there: aichat serve']
      : ['Start it: aichat serve', 'or name the address of another: --server URL']
    return { server, isNamed, problem: new AppError('unavailable', `No aichat answers at ${server}`, { details }) }
  }
  const installation = root['installation']
  if (isNamed || typeof installation !== 'string' || installation === installationId(settings))
    return { server, isNamed }
  return {
    server,
    isNamed,
    problem: new AppError('usage', `The aichat at ${server} works on another data folder than this command`, {
      details: [`To use it: --server ${server}`, `To serve ${paths.data}: aichat serve api --port PORT`],
    }),
  }
}
