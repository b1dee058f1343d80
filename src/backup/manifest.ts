import { z } from 'zod'
import { damaged, unsupported } from '../formats/formats.ts'

export const databasePart = 'database/aichat.db'

/** The first member of a backup. */
export const manifestName = 'manifest.json'

/** The longest manifest: bytes. 100,000 parts of some 150 bytes. */
export const longestManifest = 16 * 1024 ** 2

/** A closed list of folders with plain names, so that no part of a backup is unpacked elsewhere. */
const partName = z
  .string()
  .regex(/^(?:database\/aichat\.db|settings\/(?:config|mcp)\.json|(?:plugins|persona-backups)\/(?!\.)[\w.-]{1,200})$/)

const part = z.strictObject({
  name: partName,
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.int().min(0),
})

const manifest = z.strictObject({
  format: z.literal(1),
  /** The program that wrote it, such as `aichat 1.2.3`. */
  program: z.string().max(100),
  /** Milliseconds since 1970 UTC. */
  created_at: z.int(),
  database: z.strictObject({ kind: z.literal('sqlite'), schema: z.string().max(100), users: z.int().min(0) }),
  /** The names of the provider keys that were set; their values are in no backup. */
  keys: z.array(z.string().max(200)).max(5_000),
  parts: z.array(part).min(1).max(100_000),
})

/** The list of a backup's parts. */
export type Manifest = z.output<typeof manifest>
export type Part = z.output<typeof part>

/** Reads a manifest. Throws a FileError for one that is damaged, or of a later format. */
export function readManifest(text: string): Manifest {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch (cause) {
    throw damaged('The manifest of the backup is no JSON', cause)
  }
  const format = (content as { format?: unknown } | null)?.format
  if (typeof format === 'number' && format > 1)
    throw unsupported(`The backup has format ${format}: a newer aichat made it`)
  const read = manifest.safeParse(content)
  if (!read.success) throw damaged('The manifest of the backup is damaged', read.error)
  const names = new Set(read.data.parts.map(({ name }) => name))
  if (names.size !== read.data.parts.length) throw damaged('The manifest of the backup names a part twice')
  if (!names.has(databasePart)) throw damaged('The backup holds no database')
  return read.data
}
