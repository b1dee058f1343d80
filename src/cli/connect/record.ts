import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { boundedRecord } from '../../formats/formats.ts'
import type { Paths } from '../../settings/settings.ts'
import { replaceFile, whileLocked } from '../../storage/storage.ts'

/** A change of a client's file, with the facts to undo it. */
const writtenFile = z.object({
  path: z.string(),
  format: z.enum(['json', 'toml']),
  /** The copy of the file as it was; null where there was none. */
  backup: z.string().nullable(),
  /** SHA-256 of the content as it was written. */
  digest: z.string(),
  edits: z
    .array(
      z.object({
        path: z.array(z.string()).max(20),
        value: z.unknown(),
        before: z.unknown().optional(),
        known: z.int(),
      }),
    )
    .max(10_000),
})

const connection = z.object({
  server: z.string(),
  model: z.string(),
  persona: z.exactOptional(z.string()),
  /** The key that was made for the client, and the server that was asked for it, null for this machine; absent for a given key. */
  key: z.exactOptional(z.object({ id: z.string(), asked: z.string().nullable() })),
  /** The client's file; none for lines of a shell. */
  files: z.array(writtenFile).max(1),
})

export type WrittenFile = z.output<typeof writtenFile>
export type Connection = z.output<typeof connection>

const content = boundedRecord(z.string(), connection, 100)

/** The clients that are pointed here, in a file that only the user can read. */
export interface Connections {
  get(client: string): Connection | undefined
  /** Records the connection that `make` returns, given the one before; undefined forgets it. No other command writes meanwhile. */
  change(client: string, make: (before: Connection | undefined) => Connection | undefined): void
  /** The file with the key of a client. */
  keyFile(client: string): string
  readKey(client: string): string | undefined
  /** Writes the key, mode 600, or removes it. */
  writeKey(client: string, key: string | undefined): void
}

/** The name under which the lines for a shell are recorded: they have a key of their own beside that of the file. */
export function shellNameOf(client: string): string {
  return `${client}-shell`
}

/** Opens the record of the configuration folder. `get` throws `configuration` for one that cannot be read. */
export function openConnections({ config }: Pick<Paths, 'config'>): Connections {
  const path = join(config, 'connections.json')
  const keyFile = (client: string) => join(config, 'client-keys', client)
  return {
    get: (client) => read()[client],
    change: (client, make) =>
      whileLocked(path, () => {
        const { [client]: before, ...others } = read()
        const connection = make(before)
        replaceFile(path, `${JSON.stringify({ ...others, ...(connection && { [client]: connection }) }, asJson, 2)}\n`)
      }),
    keyFile,
    readKey(client) {
      try {
        return readFileSync(keyFile(client), 'utf8').trim() || undefined
      } catch {
        return undefined
      }
    },
    writeKey(client, key) {
      if (key === undefined) rmSync(keyFile(client), { force: true })
      else replaceFile(keyFile(client), `${key}\n`)
    },
  }

  function read(): Record<string, Connection> {
    let text: string
    try {
      text = readFileSync(path, 'utf8')
    } catch (reason) {
      if ((reason as NodeJS.ErrnoException).code === 'ENOENT') return {}
      throw reason
    }
    try {
      return content.parse(JSON.parse(text))
    } catch (cause) {
      throw new AppError('configuration', `The record of connected clients, ${path}, cannot be read`, {
        details: ['Correct or remove it; the copies beside the clients’ files end in .aichat-backup'],
        cause,
      })
    }
  }
}

/** Integers of TOML beyond 2^53 are big ones, which JSON has not. */
function asJson(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value
}
