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
  /** Permissions before. */
  mode: z.int(),
  made_folders: z.array(z.string()).max(100),
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
  files: z.array(writtenFile).max(20),
})

export type WrittenFile = z.output<typeof writtenFile>
export type Connection = z.output<typeof connection>

const content = boundedRecord(z.string(), connection, 100)

/** The clients that are pointed here, in a file that only the user can read. */
export interface Connections {
  get(client: string): Connection | undefined
  set(client: string, connection: Connection | undefined): void
  /**
   * Records the connection that `write` makes, unless another command changed the one before meanwhile: then it throws `busy`,
   * and nothing is written.
   */
  replace(client: string, before: Connection | undefined, write: () => Connection): void
  /** The recorded places of a client with files: the first has its name, the others a number behind it. */
  placesOf(client: string): readonly string[]
  /** The place that has one of these files; for none of them a free name. */
  placeOf(client: string, paths: readonly string[]): string
  /** The file with the key of a client. */
  keyFile(client: string): string
  readKey(client: string): string | undefined
  /** Writes the key, mode 600, or removes it. */
  writeKey(client: string, key: string | undefined): void
}

/** The name under which the lines for a shell are recorded: they have a key of their own beside that of the files. */
export function shellNameOf(client: string): string {
  return `${client}-shell`
}

/** The name under which lines that were only printed are recorded, so that their key is used again and revoked. */
export function printNameOf(client: string): string {
  return `${client}-print`
}

/** Opens the record of the configuration folder. `get` throws `configuration` for one that cannot be read. */
export function openConnections({ config }: Pick<Paths, 'config'>): Connections {
  const path = join(config, 'connections.json')
  const keyFile = (client: string) => join(config, 'client-keys', client)
  return {
    get: (client) => read()[client],
    set: (client, connection) => whileLocked(path, () => put(client, connection)),
    replace: (client, before, write) =>
      whileLocked(path, () => {
        if (JSON.stringify(read()[client], asJson) !== JSON.stringify(before, asJson))
          throw new AppError('busy', `Another command connected ${client.replace(/-\d+$/, '')} at the same moment`, {
            details: ['Run this one again'],
          })
        put(client, write())
      }),
    placesOf,
    placeOf(client, paths) {
      const record = read()
      const known = placesOf(client).find((name) => record[name]!.files.some(({ path }) => paths.includes(path)))
      if (known !== undefined) return known
      for (let count = 1; ; count++) {
        const name = count === 1 ? client : `${client}-${count}`
        if (!Object.hasOwn(record, name)) return name
      }
    },
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

  function put(client: string, connection: Connection | undefined): void {
    const { [client]: _before, ...others } = read()
    replaceFile(path, `${JSON.stringify({ ...others, ...(connection && { [client]: connection }) }, asJson, 2)}\n`)
  }

  function placesOf(client: string): readonly string[] {
    const names = Object.keys(read()).filter((name) => name.replace(/-\d+$/, '') === client)
    return names.sort()
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
