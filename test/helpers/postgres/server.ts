import { chownSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { haveProgram } from '../debian.ts'
import { freePort } from '../free-port.ts'
import { nobody, type Program, runProgram, startProgram } from './program.ts'

/** A real PostgreSQL on a port of loopback, with its data in a temporary folder. */
export interface PostgresServer {
  readonly port: number
  /** As `15.18`. */
  readonly version: string
  /** Whether databases here can have the extension `vector`: Debian 12 has no package of it. */
  readonly hasVector: boolean
  /** The server's log since its last start. */
  readonly log: () => string
  /** The address of a new empty database, owned by an ordinary user, or of a copy of an idle database. */
  newDatabase(template?: string): Promise<string>
  /** Rows as text, asked through `psql` as the superuser: no product code takes part. Throws psql's stderr. */
  query(sql: string, database?: string): Promise<readonly (readonly string[])[]>
  /** `fast` rolls back and ends sessions with 57P01; `immediate` is a crash: the next start recovers. */
  stop(mode?: 'fast' | 'immediate'): Promise<void>
  /** Starts it again on the same port and data. */
  start(): Promise<void>
  /** Lets transactions begin as one that turned into a standby does: writes are refused with 25006. For all sessions. */
  turn(state: 'read-only' | 'writable'): Promise<void>
  /** Ends the sessions of a database with 57P01, as an administrator does; resolves with their number. */
  terminate(database: string): Promise<number>
  /** Stops it where it runs and removes its data. */
  close(): Promise<void>
}

/** The owner of the databases, and the password; the superuser `postgres` needs none. */
export const databaseUser = { name: 'aichat', password: 'database-password' } as const

const versions = '/usr/lib/postgresql'

/** Whether there is a server, after trying to install Debian's; where there is none, that is told by name. */
export function havePostgres(): boolean {
  return haveProgram(`${versions}/*/bin/postgres`, 'postgresql')
}

export interface PostgresOptions {
  /** Waits for the disk at each commit. */
  readonly durable?: boolean
  /** As in `postgresql.conf`. */
  readonly settings?: Readonly<Record<string, string>>
}

/** Starts one; throws its output when it does not start. */
export async function openPostgres({ durable = false, settings = {} }: PostgresOptions = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'aichat-postgres-'))
  if (process.getuid?.() === 0) chownSync(folder, nobody, nobody)
  const data = join(folder, 'data')
  const newest = readdirSync(versions)
    .filter((name) => Number(name) > 0)
    .sort((one, other) => Number(other) - Number(one))[0]!
  const bin = join(versions, newest, 'bin')
  const initdb = [join(bin, 'initdb'), '-D', data, '-U', 'postgres', '-E', 'UTF8', '--locale=C.UTF-8']
  await runProgram([...initdb, '--no-sync', '--no-instructions', '--auth=trust'])
  const rules = [`host all ${databaseUser.name} 127.0.0.1/32 scram-sha-256`, 'host all postgres 127.0.0.1/32 trust']
  writeFileSync(join(data, 'pg_hba.conf'), `${rules.join('\n')}\n`)
  const given = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    fsync: durable ? 'on' : 'off',
    lc_messages: 'C',
    ...settings,
  }
  const options = Object.entries(given).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const postgres = [join(bin, 'postgres'), '-D', data, ...options]
  let port = await freePort()
  let program: Program | undefined
  let databases = 0
  const server = {
    get port() {
      return port
    },
    version: '',
    hasVector: false,
    log: () => program?.log() ?? '',
    async newDatabase(template = 'template1') {
      const name = `test_${++databases}`
      await server.query(`CREATE DATABASE ${name} TEMPLATE ${template} OWNER ${databaseUser.name}`)
      return `postgresql://${databaseUser.name}:${databaseUser.password}@127.0.0.1:${port}/${name}`
    },
    async query(sql: string, database = 'postgres') {
      const address = `postgresql://postgres@127.0.0.1:${port}/${database}`
      // A field may hold lines: they are separated by bytes that no text of a test has.
      const format = [
        '-X',
        '-A',
        '-t',
        '-q',
        '-F',
        '\x1f',
        '-R',
        '\x1e',
        '-v',
        'ON_ERROR_STOP=1',
        '-v',
        'VERBOSITY=verbose',
      ]
      const text = await runProgram([join(bin, 'psql'), address, ...format, '-c', sql])
      const rows = text.replace(/\n$/, '')
      return rows === '' ? [] : rows.split('\x1e').map((row) => row.split('\x1f'))
    },
    async turn(state: 'read-only' | 'writable') {
      const value = state === 'read-only' ? 'on' : 'off'
      await server.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`)
      await server.query('SELECT pg_reload_conf()')
      // The server reads its files a moment later.
      const isTurned = async () => (await server.query('SHOW default_transaction_read_only'))[0]![0] === value
      while (!(await isTurned()));
    },
    async terminate(database: string) {
      const [row] = await server.query(
        `SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE datname = '${database}'`,
      )
      return Number(row![0])
    },
    async stop(mode: 'fast' | 'immediate' = 'fast') {
      await program?.stop(mode === 'fast' ? 'SIGINT' : 'SIGQUIT')
      program = undefined
    },
    async start() {
      program ??= await startProgram(
        [...postgres, '-p', String(port)],
        /database system is ready to accept connections/,
      )
    },
    async close() {
      await server.stop('immediate')
      rmSync(folder, { recursive: true, force: true })
    },
  }
  try {
    await server.start().catch(async (reason) => {
      if (!String(reason).includes('Address already in use')) throw reason
      // Another process took the port since it was found free.
      port = await freePort()
      await server.start()
    })
    const { name, password } = databaseUser
    await server.query(`CREATE ROLE ${name} LOGIN PASSWORD '${password}'`)
    const [row] = await server.query(
      `SELECT current_setting('server_version'), count(*) FROM pg_available_extensions WHERE name = 'vector'`,
    )
    server.version = row![0]!.split(' ')[0]!
    server.hasVector = row![1] === '1'
  } catch (reason) {
    await server.close()
    throw reason
  }
  if (!server.hasVector)
    process.stdout.write(`\nnote: PostgreSQL ${server.version} has no extension vector: tested without\n`)
  return server
}
