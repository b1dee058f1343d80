import { AppError } from '../../errors.ts'
import type { Cli } from '../terminal/cli.ts'
import { note, print } from '../terminal/output.ts'
import { clients } from './clients.ts'
import { planUndo, undoFile } from './files.ts'
import { revokeMadeKey } from './keys.ts'
import { openConnections, shellNameOf } from './record.ts'

/** Puts the file of a client back, revokes its keys and forgets it. Exit 1 where a key could not be revoked. */
export async function undo(cli: Cli, name: string): Promise<void> {
  const connections = openConnections((await cli.settings()).paths)
  const known = [name, shellNameOf(name)].flatMap((id) => {
    const connection = connections.get(id)
    return connection ? [{ id, connection }] : []
  })
  if (known.length === 0) throw new AppError('not_found', `${clients[name]!.name} is not connected`)
  const plans = known.flatMap(({ connection }) => connection.files).map(planUndo)
  for (const plan of plans) undoFile(plan)
  let revoked: boolean | null = null
  for (const { id, connection } of known) {
    if (connection.key) revoked = (await revokeMadeKey(cli, connection.key)) && revoked !== false
    connections.writeKey(id, undefined)
    connections.change(id, () => undefined)
  }
  if (revoked === false) cli.exit = 1
  const files = plans.map(({ found, bytes, kept }) => ({
    path: found.path,
    removed: bytes === undefined,
    kept: [...kept],
  }))
  await print(cli, { client: name, files, key_revoked: revoked }, () => files.map(({ path }) => path).join('\n'))
  if (known.some(({ id }) => id === shellNameOf(name)))
    note(cli, 'aichat: a shell that was pointed here still is: unset its variables, or close it')
  note(cli, `aichat: ${clients[name]!.name} is no longer pointed here`)
  for (const { path, kept } of files)
    if (kept.length > 0) note(cli, `aichat: changed since and left as it is in ${path}: ${kept.join(', ')}`)
}
