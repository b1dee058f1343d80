import { AppError } from '../../errors.ts'
import type { Cli } from '../terminal/cli.ts'
import { note, print } from '../terminal/output.ts'
import { clients } from './clients.ts'
import { pathsOf, planUndo, undoFile } from './files.ts'
import { revokeMadeKey } from './keys.ts'
import { placesOf } from './places.ts'
import { type Connections, openConnections, printNameOf, shellNameOf } from './record.ts'

/**
 * Puts the files of a client back, revokes its keys and forgets it; of a client in several places, in the one that the
 * environment names. Exit 1 where a key could not be revoked.
 */
export async function undo(cli: Cli, name: string): Promise<void> {
  const connections = openConnections((await cli.settings()).paths)
  const [place, others] = placeToUndo(cli, name, connections)
  const known = [...place, shellNameOf(name), printNameOf(name)].flatMap((id) => {
    const connection = connections.get(id)
    return connection ? [{ id, connection }] : []
  })
  if (known.length === 0) throw new AppError('not_found', `${clients[name]!.name} is not connected`)
  // All are planned first: one that cannot be undone must not leave the others half done.
  const plans = known.flatMap(({ connection }) => connection.files).map(planUndo)
  // The first file made the folder of those behind it.
  for (const plan of [...plans].reverse()) undoFile(plan)
  let revoked: boolean | null = null
  for (const { id, connection } of known) {
    if (connection.key) revoked = (await revokeMadeKey(cli, connection.key)) && revoked !== false
    connections.writeKey(id, undefined)
    connections.set(id, undefined)
  }
  if (revoked === false) cli.exit = 1
  const files = plans.map(({ written, content, kept }) => ({
    path: written.path,
    removed: content === null,
    kept: [...kept],
  }))
  await print(cli, { client: name, files, key_revoked: revoked }, () => files.map(({ path }) => path).join('\n'))
  if (known.some(({ id }) => id === shellNameOf(name)))
    note(cli, 'aichat: a shell that was pointed here still is: unset its variables, or close it')
  const rest = others.length > 0 ? `, and still is by ${others.join(', ')}` : ''
  note(cli, `aichat: ${clients[name]!.name} is no longer pointed here${rest}`)
  for (const { path, kept } of files)
    if (kept.length > 0) note(cli, `aichat: changed since and left as it is in ${path}: ${kept.join(', ')}`)
}

/**
 * The place to undo, none for a client without files, and the files of its other places. Throws `usage` where the
 * environment names none of several.
 */
function placeToUndo(
  cli: Cli,
  name: string,
  connections: Connections,
): readonly [place: readonly string[], others: readonly string[]] {
  const places = connections.placesOf(name)
  const filesOf = (all: readonly string[]) => all.flatMap((id) => connections.get(id)!.files.map(({ path }) => path))
  if (places.length <= 1) return [places, []]
  const here = connections.placeOf(name, pathsOf(clients[name]!, placesOf(cli.io.environment)))
  if (places.includes(here)) return [[here], filesOf(places.filter((id) => id !== here))]
  throw new AppError(
    'usage',
    `${clients[name]!.name} is connected in several places, none of which the environment names`,
    {
      details: [`Set its variables as they were for one of: ${filesOf(places).join(', ')}`],
    },
  )
}
