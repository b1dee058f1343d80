import { chownSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { askRunner } from '../../runner/question.ts'
import { haveProgram } from '../debian.ts'
import { freePort } from '../free-port.ts'
import { type Databases, databasesOf, databaseUser } from './databases.ts'
import { nobody, type Program, runProgram, startProgram } from './program.ts'
import { cheapScram } from './queries.ts'

/** A real PostgreSQL on a port of loopback, with its data in a temporary folder. */
export interface PostgresServer extends Databases {
  /** The server's log since its last start. */
  readonly log: () => string
  /** `fast` rolls back and ends sessions with 57P01; `immediate` is a crash: the next start recovers. */
  stop(mode?: 'fast' | 'immediate'): Promise<void>
  /** Starts it again on the same port and data. */
  start(): Promise<void>
  /** Lets transactions begin as one that turned into a standby does: writes are refused with 25006. For all sessions. */
  turn(state: 'read-only' | 'writable'): Promise<void>
  /** Stops it where it runs and removes its data. */
  close(): Promise<void>
}

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
  /** Data of a new server to copy, see `makeData`; those of the run, or new ones, unless given. */
  readonly data?: string
  /** The folder of its data. */
  readonly scratch?: string
}

/** For the server that test files share: each has up to three instances, whose pools take 20 connections. */
export const sharedSettings = { max_connections: '300' } as const

function program(name: string): string {
  const [newest] = readdirSync(versions)
    .filter((version) => Number(version) > 0)
    .sort((one, other) => Number(other) - Number(one))
  return join(versions, newest!, 'bin', name)
}

function newFolder(scratch: string): string {
  const folder = mkdtempSync(join(scratch, 'aichat-postgres-'))
  if (process.getuid?.() === 0) chownSync(folder, nobody, nobody)
  return folder
}

/** Makes the data of a new server, a second of CPU time: each server of a run is a copy. */
export async function makeData(scratch = tmpdir()): Promise<{ readonly folder: string; remove(): void }> {
  const parent = newFolder(scratch)
  const folder = join(parent, 'data')
  const initdb = [program('initdb'), '-D', folder, '-U', 'postgres', '-E', 'UTF8', '--locale=C.UTF-8']
  await runProgram([...initdb, '--no-sync', '--no-instructions', '--auth=trust'])
  const rules = [`host all ${databaseUser.name} 127.0.0.1/32 scram-sha-256`, 'host all postgres 127.0.0.1/32 trust']
  writeFileSync(join(folder, 'pg_hba.conf'), `${rules.join('\n')}\n`)
  return { folder, remove: () => rmSync(parent, { recursive: true, force: true }) }
}

/** Starts one; throws its output when it does not start. */
export async function openPostgres({
  durable = false,
  settings = {},
  data,
  scratch = tmpdir(),
}: PostgresOptions = {}): Promise<PostgresServer> {
  const folder = newFolder(scratch)
  await copyData(join(folder, 'data'), data ?? (await askRunner<string>('postgres data')))
  const given = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    fsync: durable ? 'on' : 'off',
    lc_messages: 'C',
    ...settings,
  }
  const options = Object.entries(given).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const postgres = [program('postgres'), '-D', join(folder, 'data'), ...options]
  let port = await freePort()
  let running: Program | undefined
  const start = async () => {
    running ??= await startProgram([...postgres, '-p', String(port)], /database system is ready to accept connections/)
  }
  let databases: Databases | undefined
  const stop = async (mode: 'fast' | 'immediate' = 'fast') => {
    await databases?.leave()
    await running?.stop(mode === 'fast' ? 'SIGINT' : 'SIGQUIT')
    running = undefined
  }
  const close = async () => {
    await stop('immediate')
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await start().catch(async (reason) => {
      if (!String(reason).includes('Address already in use')) throw reason
      // Another process took the port since it was found free.
      port = await freePort()
      await start()
    })
    const asked = databasesOf({ port, version: '', hasVector: false })
    const [row] = await asked.query(
      `CREATE ROLE ${databaseUser.name} LOGIN PASSWORD '${cheapScram(databaseUser.password)}';
        SELECT current_setting('server_version'), count(*) FROM pg_available_extensions WHERE name = 'vector'`,
    )
    await asked.leave()
    const made = databasesOf({ port, version: row![0]!.split(' ')[0]!, hasVector: row![1] === '1' })
    databases = made
    if (!made.hasVector)
      process.stdout.write(`\nnote: PostgreSQL ${made.version} has no extension vector: tested without\n`)
    return {
      ...made,
      log: () => running?.log() ?? '',
      async turn(state) {
        const value = state === 'read-only' ? 'on' : 'off'
        await made.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`)
        await made.query('SELECT pg_reload_conf()')
        // The server reads its files a moment later, and has told all sessions once a new one knows.
        while ((await made.query('SHOW default_transaction_read_only', 'template1'))[0]![0] !== value);
      },
      start,
      stop,
      close,
    }
  } catch (reason) {
    await close()
    throw reason
  }
}

async function copyData(to: string, from: string | undefined): Promise<void> {
  const made = from === undefined ? await makeData() : undefined
  await runProgram(['cp', '-a', from ?? made!.folder, to])
  made?.remove()
}
