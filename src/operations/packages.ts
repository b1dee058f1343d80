import { createReadStream, readFileSync } from 'node:fs'
import { z } from 'zod'
import { AppError, shortened } from '../errors.ts'
import { parseJson } from '../formats/json.ts'
import type { ExportedFile } from '../personas/package/exported-file.ts'
import { packageLimits } from '../personas/package/format.ts'
import type { ReceivedPackage } from '../personas/package/upload.ts'
import { ownPersona } from './adaptation.ts'
import { type Call, Download, defineOperation } from './operation.ts'
import { locatePersona } from './personas.ts'

const id = z.string()

/** `?dry_run=true` in an address, `true` in process. */
const flag = z.union([z.boolean(), z.stringbool()]).default(false)

/** A package as it arrives: bytes, written to a file before anything is looked at. */
const bytes = z.custom<AsyncIterable<Uint8Array>>(
  (value) => typeof value === 'object' && value !== null && Symbol.asyncIterator in value,
)

/** In which types a package may be sent: JSON, container, age file and card alike say what they are by their first bytes. */
const packageTypes = ['application/json', 'application/octet-stream', 'application/zip', 'image/png'] as const

const backup = z.object({
  backup_id: z.string(),
  persona_id: z.string(),
  created_at: z.int(),
  reason: z.enum(['manual', 'before_restore', 'before_import']),
  checksum: z.string(),
  content_hash: z.string(),
  bytes: z.int(),
  memories: z.int(),
  adaptations: z.int(),
})

const verdict = z.object({
  valid: z.boolean(),
  expected: z.string().nullable(),
  actual: z.string().nullable(),
  version: z.string().nullable(),
  problems: z.array(z.string()),
  kind: z.enum(['damaged', 'unsupported', 'not_authenticated']).nullable(),
  form: z.enum(['document', 'container']).nullable(),
  content_hash: z.string().nullable(),
  memories: z.int(),
  adaptations: z.int(),
  /** Of a stored persona: changes that another program made to the database since then are seen. */
  sealed_since: z.exactOptional(z.int().nullable()),
})

export const backUpPersona = defineOperation({
  name: 'personas.backup',
  method: 'POST',
  path: '/api/personas/:id/backup',
  access: 'user',
  summary: 'Backs up a persona on this machine.',
  input: z.object({ id }),
  output: backup,
  status: 201,
  run: async (call, input) => {
    const persona = await ownPersona(call, input.id)
    return (await call.app.packages()).backups.create(persona, call.signal)
  },
})

export const listBackups = defineOperation({
  name: 'personas.backups',
  method: 'GET',
  path: '/api/personas/:id/backups',
  access: 'user',
  summary: 'Lists the backups of a persona, newest first.',
  input: z.object({ id }),
  output: z.object({ backups: z.array(backup) }),
  run: async (call, input) => {
    const persona = await ownPersona(call, input.id)
    return { backups: [...(await (await call.app.packages()).backups.list(persona))] }
  },
})

export const restorePersona = defineOperation({
  name: 'personas.restore',
  method: 'POST',
  path: '/api/personas/:id/restore',
  access: 'user',
  summary: 'Puts a backup (JSON {backup_id}; the newest when nothing is said) or a package in the place of a persona.',
  limit: packageLimits.bytes,
  upload: { field: 'package', as: 'stream', types: packageTypes },
  locate: locatePersona,
  input: z.object({ id, package: bytes }),
  output: z.object({ restored: z.string(), backup_id: z.string(), memories: z.int(), adaptations: z.int() }),
  run: (call, input) => {
    const restore = async (arrived: ReceivedPackage) => {
      const persona = await ownPersona(call, input.id)
      const { backups, packages } = await call.app.packages()
      const wish = backupWish(arrived)
      if (wish) return backups.restore(persona, wish.backup_id, call.signal)
      const request = { mode: 'replace', dry_run: false, persona: persona.id, passphrase: arrived.passphrase } as const
      const { backup_id = '', imported } = await packages.import(call.caller.id, arrived.path, request, call.signal)
      return { restored: persona.id, backup_id, ...imported }
    }
    return received(call, input.package, restore, true)
  },
})

export const exportPersona = defineOperation({
  name: 'personas.export',
  method: 'POST',
  path: '/api/personas/:id/export',
  access: 'user',
  summary: 'Gives a whole persona as a package, sealed with age when a passphrase is given, or as a character card.',
  locate: locatePersona,
  input: z.object({
    id,
    passphrase: z.exactOptional(z.string().max(1000)),
    include_embeddings: z.boolean().default(true),
    format: z.enum(['json', 'container', 'card', 'card_png']).default('json'),
  }),
  produces: ['application/json', 'application/zip', 'application/octet-stream', 'image/png'],
  output: z.instanceof(Download),
  run: async (call, { id, passphrase, include_embeddings, format }) => {
    const persona = await ownPersona(call, id)
    const { packages } = await call.app.packages()
    return download(await packages.export(persona, { format, passphrase, embeddings: include_embeddings }, call.signal))
  },
})

export const importPersona = defineOperation({
  name: 'personas.import',
  failures: [404, 429],
  method: 'POST',
  path: '/api/personas/import',
  access: 'user',
  summary:
    'Takes in a package or character card. A sealed one is preceded by a line {"passphrase": …} in the same body.',
  limit: packageLimits.bytes,
  upload: { field: 'package', as: 'stream', types: packageTypes },
  query: ['mode', 'dry_run', 'persona', 'model'],
  input: z.object({
    package: bytes,
    mode: z.enum(['create', 'merge', 'replace']).default('create'),
    dry_run: flag,
    persona: z.exactOptional(z.string()),
    model: z.exactOptional(z.string().trim().min(1).max(300)),
  }),
  output: z.object({
    persona_id: z.string(),
    mode: z.enum(['create', 'merge', 'replace']),
    dry_run: z.boolean(),
    imported: z.object({ memories: z.int(), adaptations: z.int() }),
    duplicates: z.int(),
    backup_id: z.exactOptional(z.string()),
    warnings: z.array(z.string()),
  }),
  status: 201,
  run: (call, { package: pieces, ...request }) =>
    received(call, pieces, async ({ path, bytes, passphrase }) => {
      if (bytes === 0) throw new AppError('invalid', 'The body is empty: send a package or a character card')
      const { warnings, ...imported } = await (await call.app.packages()).packages.import(
        call.caller.id,
        path,
        { ...request, passphrase },
        call.signal,
      )
      return { ...imported, warnings: [...warnings] }
    }),
})

export const verifyPersona = defineOperation({
  name: 'personas.verify',
  method: 'POST',
  path: '/api/personas/:id/verify',
  access: 'user',
  summary: 'Judges a package, or without one the persona as it is stored.',
  limit: packageLimits.bytes,
  upload: { field: 'package', as: 'stream', types: packageTypes },
  locate: locatePersona,
  input: z.object({ id, package: bytes }),
  output: verdict,
  run: (call, input) =>
    received(call, input.package, async ({ path, bytes, passphrase }) => {
      const { packages } = await call.app.packages()
      const found =
        bytes > 0
          ? await packages.verify(path, passphrase, call.signal)
          : await packages.verifyStored(await ownPersona(call, input.id), call.signal)
      return { ...found, problems: [...shortened(found.problems)] }
    }),
})

export const packageOperations = [
  backUpPersona,
  listBackups,
  restorePersona,
  exportPersona,
  importPersona,
  verifyPersona,
]

/**
 * Writes what arrives to a file, and removes it when it has been dealt with. From the first byte on it is one of the
 * imports that a user may have under way, since from then on it takes room; with `countEmpty` it is one from the start.
 */
async function received<T>(
  call: Call,
  pieces: AsyncIterable<Uint8Array>,
  use: (arrived: ReceivedPackage) => Promise<T>,
  countEmpty = false,
): Promise<T> {
  const [{ LocalPackage, receivePackage }, { scratch, imports }] = await Promise.all([
    import('../personas/package/upload.ts'),
    call.app.packages(),
  ])
  let leave = countEmpty ? imports.take(call.caller.id) : undefined
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      if (piece.length > 0) leave ??= imports.take(call.caller.id)
      yield piece
    }
  }
  try {
    const arrived = pieces instanceof LocalPackage ? pieces.received() : await receivePackage(counted(), scratch)
    try {
      return await use(arrived)
    } finally {
      arrived.discard()
    }
  } finally {
    leave?.()
  }
}

/** The longest body that can be a wish for a backup rather than a package: bytes. */
const longestWish = 1024

/** What a body without a package asks for; undefined when it is a package. */
function backupWish({ path, bytes }: ReceivedPackage): { readonly backup_id?: string } | undefined {
  if (bytes > longestWish) return undefined
  const text = readFileSync(path, 'utf8').trim()
  if (text === '') return {}
  if (!text.startsWith('{')) return undefined
  const wish = z.strictObject({ backup_id: z.exactOptional(z.string()) }).safeParse(parseJson(text))
  return wish.success ? wish.data : undefined
}

/** Sends the file and removes it, also when nobody reads it to its end. */
function download(file: ExportedFile): Download {
  const { path, filename, type, bytes, checksum, content_hash } = file
  async function* body(): AsyncGenerator<Uint8Array> {
    try {
      yield* createReadStream(path)
    } finally {
      file.discard()
    }
  }
  const headers = {
    'content-length': String(bytes),
    'x-package-bytes': String(bytes),
    ...(checksum && { 'x-package-checksum': checksum }),
    ...(content_hash && { 'x-package-content-hash': content_hash }),
  }
  return new Download(type, body(), { filename, headers })
}
