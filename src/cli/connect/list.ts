import type { Cli } from '../terminal/cli.ts'
import { print } from '../terminal/output.ts'
import { table } from '../terminal/table.ts'
import { clients } from './clients.ts'
import { digestOf, readConfigFile } from './config/file.ts'
import { findProgram } from './program.ts'
import { openConnections, shellNameOf, type WrittenFile } from './record.ts'

/** Lists the clients: whether each is installed, and whether it is pointed at a daemon. */
export async function listClients(cli: Cli): Promise<void> {
  const connections = openConnections((await cli.settings()).paths)
  const rows = Object.entries(clients).map(([client, { name, speaks, programs }]) => {
    const connection = connections.get(client) ?? connections.get(shellNameOf(client))
    return {
      client,
      name,
      speaks,
      program: findProgram(programs, cli.io.environment) ?? null,
      connected: connection !== undefined,
      server: connection?.server ?? null,
      model: connection?.model ?? null,
      changed_files: (connection?.files ?? []).filter(isChanged).map(({ path }) => path),
    }
  })
  await print(cli, { clients: rows }, () =>
    table(cli, rows, [
      ['CLIENT', (row) => row.client],
      ['NAME', (row) => row.name],
      ['SPEAKS', (row) => row.speaks],
      ['PROGRAM', (row) => row.program ?? (clients[row.client]!.programs.length > 0 ? 'not found' : '')],
      ['CONNECTED', (row) => (row.connected ? `${row.server}, ${row.model}` : 'no')],
      ['FILES', (row) => (row.changed_files.length > 0 ? 'changed since' : '')],
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
