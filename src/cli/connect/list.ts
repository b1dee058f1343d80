import type { Cli } from '../terminal/cli.ts'
import { print } from '../terminal/output.ts'
import { findProgram } from '../terminal/programs.ts'
import { table } from '../terminal/table.ts'
import { clients } from './clients.ts'
import { digestOf, readConfigFile } from './config/file.ts'
import { openConnections, shellNameOf, type WrittenFile } from './record.ts'

/** Lists the clients: whether each is installed, and whether it is pointed at a daemon. */
export async function listClients(cli: Cli): Promise<void> {
  const connections = openConnections((await cli.settings()).paths)
  const rows = Object.entries(clients).flatMap(([client, { name, speaks, programs, files }]) => {
    const places = files ? connections.placesOf(client) : [shellNameOf(client)]
    const known = places.flatMap((place) => connections.get(place) ?? [])
    return (known.length > 0 ? known : [undefined]).map((connection) => ({
      client,
      name,
      speaks,
      program: findProgram(programs, cli.io.environment) ?? null,
      connected: connection !== undefined,
      server: connection?.server ?? null,
      model: connection?.model ?? null,
      files: (connection?.files ?? []).map(({ path }) => path),
      changed_files: (connection?.files ?? []).filter(isChanged).map(({ path }) => path),
    }))
  })
  const filesText = ({ client, files, changed_files: changed }: (typeof rows)[number]) => {
    const isOneOfSeveral = rows.filter((row) => row.client === client).length > 1
    return [...(isOneOfSeveral ? files : []), ...(changed.length > 0 ? ['changed since'] : [])].join(' ')
  }
  await print(cli, { clients: rows }, () =>
    table(cli, rows, [
      ['CLIENT', (row) => row.client],
      ['NAME', (row) => row.name],
      ['SPEAKS', (row) => row.speaks],
      ['PROGRAM', (row) => row.program ?? (clients[row.client]!.programs.length > 0 ? 'not found' : '')],
      ['CONNECTED', (row) => (row.connected ? `${row.server}, ${row.model}` : 'no')],
      ['FILES', filesText],
    ]),
  )
}

function isChanged({ path, digest }: WrittenFile): boolean {
  try {
    const { bytes } = readConfigFile(path)
    return bytes === null || digestOf(bytes) !== digest
  } catch {
    return true
  }
}
