import type { Cli } from '../terminal/cli.ts'
import { print } from '../terminal/output.ts'
import { findProgram } from '../terminal/programs.ts'
import { table } from '../terminal/table.ts'
import { clients } from './clients.ts'
import { openConnections, shellNameOf } from './record.ts'

/** Lists the clients: whether each is installed, and whether it is pointed at a daemon. */
export async function listClients(cli: Cli): Promise<void> {
  const connections = openConnections((await cli.settings()).paths)
  const rows = Object.entries(clients).map(([client, { name, speaks, programs, file }]) => {
    const connection = connections.get(file ? client : shellNameOf(client))
    return {
      client,
      name,
      speaks,
      program: findProgram(programs, cli.io.environment) ?? null,
      connected: connection !== undefined,
      server: connection?.server ?? null,
      model: connection?.model ?? null,
      files: (connection?.files ?? []).map(({ path }) => path),
    }
  })
  await print(cli, { clients: rows }, () =>
    table(cli, rows, [
      ['CLIENT', (row) => row.client],
      ['NAME', (row) => row.name],
      ['SPEAKS', (row) => row.speaks],
      ['PROGRAM', (row) => row.program ?? (clients[row.client]!.programs.length > 0 ? 'not found' : '')],
      ['CONNECTED', (row) => (row.connected ? `${row.server}, ${row.model}` : 'no')],
      ['FILE', (row) => row.files.join(' ')],
    ]),
  )
}
