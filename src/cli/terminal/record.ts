import type { App } from '../../app/app.ts'
import { localOwner } from '../../operations/operations.ts'
import type { Cli } from './cli.ts'
import { note } from './output.ts'

/** Records in the audit what a command did on this machine without an operation. */
export async function recordHere(cli: Cli, app: App, action: string, target: string): Promise<void> {
  app.remarkListeners.add((message, { reason }) => note(cli, `aichat: ${message}${reason ? `: ${reason}` : ''}`))
  await app.record({ action, actor: localOwner.id, actorName: localOwner.username, target, outcome: 'ok' })
}
