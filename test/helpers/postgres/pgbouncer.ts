import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { haveProgram } from '../debian.ts'
import { freePort } from '../free-port.ts'
import { databaseUser } from './databases.ts'
import { nobody, startProgram } from './program.ts'

/** PgBouncer before a server, as Debian installs it but for transactions: each may run on another connection. */
export interface PgBouncer {
  /** The address of a database through it. */
  readonly at: (address: string) => string
  readonly log: () => string
  close(): Promise<void>
}

/** Whether it is there, after trying to install Debian's package; where it is not, that is told by name. */
export function havePgBouncer(): boolean {
  return haveProgram('/usr/sbin/pgbouncer', 'pgbouncer')
}

/**
 * Starts one before a server's port, with `connections` to each database. As before version 1.20 it refuses parameters of a
 * session that it does not know, such as `options`, unless `settings` say otherwise.
 */
export async function openPgBouncer(
  serverPort: number,
  { connections = 4, settings = {} }: { connections?: number; settings?: Readonly<Record<string, string>> } = {},
): Promise<PgBouncer> {
  const folder = mkdtempSync(join(tmpdir(), 'aichat-pgbouncer-'))
  const port = await freePort()
  const { name, password } = databaseUser
  const given = {
    listen_addr: '127.0.0.1',
    listen_port: String(port),
    unix_socket_dir: '',
    auth_type: 'scram-sha-256',
    auth_file: join(folder, 'users'),
    pool_mode: 'transaction',
    default_pool_size: String(connections),
    ...settings,
  }
  const lines = Object.entries(given).map(([setting, value]) => `${setting} = ${value}`)
  const configuration = ['[databases]', `* = host=127.0.0.1 port=${serverPort}`, '[pgbouncer]', ...lines]
  const files = { users: `"${name}" "${password}"\n`, 'pgbouncer.ini': `${configuration.join('\n')}\n` }
  if (process.getuid?.() === 0) chownSync(folder, nobody, nobody)
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const program = await startProgram(['/usr/sbin/pgbouncer', join(folder, 'pgbouncer.ini')], /process up/)
    return {
      at: (address) => Object.assign(new URL(address), { port: String(port) }).href,
      log: program.log,
      async close() {
        // Newer ones wait for their clients after SIGTERM.
        await program.stop('SIGQUIT')
        remove()
      },
    }
  } catch (reason) {
    remove()
    throw reason
  }
}
