import { isLoopback } from '../../chat/chat.ts'
import { AppError } from '../../errors.ts'
import type { Cli } from './cli.ts'

/** Whether the chats of this command may not leave this machine: by --local-only, or by the setting chat.local_only. */
export async function isLocalOnly(cli: Cli): Promise<boolean> {
  return cli.running?.opts<{ localOnly?: boolean }>().localOnly === true || (await cli.settings()).localOnly
}

/** Throws `unavailable` where the command would send its chat to a daemon on another machine. */
export async function requireLocalServer(cli: Cli): Promise<void> {
  const { server } = await cli.backend()
  if (server === undefined || isLoopback(server)) return
  throw new AppError('unavailable', `The daemon at ${server} was not asked, since nothing may leave this machine`, {
    details: ['Ask in this process: --local', 'or leave out --local-only, and set chat.local_only to false'],
    final: true,
  })
}
