import { openApp } from '../../app/app.ts'
import { askInProcess, type Caller, type LocalCaller, localOwner } from '../../operations/operations.ts'
import type { Backend, Cli } from '../terminal/cli.ts'
import { note } from '../terminal/output.ts'
import { findServer, findToken, type Target } from './target.ts'

/** The backend of a command: the server of `findServer`, else the core in this process. */
export async function openBackend(cli: Cli): Promise<Backend> {
  const target = await findServer(cli)
  if (cli.globals().verbose)
    note(cli, `aichat: ${target ? `asking ${target.url}` : `working on ${(await cli.settings()).paths.data}`}`)
  return target ? openServerBackend(cli, target) : openLocalBackend(cli)
}

async function openServerBackend(cli: Cli, target: Target) {
  const { openRemote } = await import('./client.ts')
  const found = await findToken(target, await cli.settings())
  return openRemote({
    server: target.url,
    token: found?.token,
    from: target.from,
    insecure: cli.globals().insecure === true,
  })
}

/** The core in this process; the permissions of the data folder are its access control. */
async function openLocalBackend(cli: Cli): Promise<Backend> {
  const { as } = cli.globals()
  const app = await openApp(await cli.settings())
  app.remarkListeners.add((message, { reason }) => note(cli, `aichat: ${message}${reason ? `: ${reason}` : ''}`))
  let caller: Promise<Caller> | undefined
  const callerOf: LocalCaller = ({ impersonal }) => {
    if (impersonal && as === undefined) return localOwner
    caller ??= findCaller()
    return caller
  }
  return { ...askInProcess(app, callerOf), server: undefined, close: () => app.close() }

  /** The named user, else an administrator, else the owner of the data folder. */
  async function findCaller(): Promise<Caller> {
    const accounts = await app.accounts()
    const account = await accounts.local(as)
    return account ? { id: account.user.id, username: account.user.username, role: account.user.role } : localOwner
  }
}
