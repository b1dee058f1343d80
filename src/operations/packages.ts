import { createReadStream, readFileSync } from 'node:fs'
import { z } from 'zod'
import { AppError, shortened } from '../errors.ts'
import { displayName, parseJson } from '../formats/formats.ts'
import {
  backupRow,
  type ExportedFile,
  importOutcome,
  packageLimits,
  type ReceivedPackage,
  verification,
} from '../personas/personas.ts'
import { queryFlag } from './input.ts'
import { type Call, Download, defineOperation } from './operation.ts'
import { locatePersona, ownPersona } from './personas.ts'

const id = z.string()

/** The bytes of an uploaded package, written to a file before they are read. */
const bytes = z.custom<AsyncIterable<Uint8Array>>(
  (value) => typeof value === 'object' && value !== null && Symbol.asyncIterator in value,
)

/** The media types of a package; its first bytes tell its format. */
const packageTypes = [
  'application/json',
  'application/octet-stream',
  'application/zip',
  'application/x-ndjson',
  'image/png',
] as const

/** A package holds the whole persona, with its memory. */
const wholePersonas = { access: 'user', scope: ['personas', 'memory'] } as const
const wholePersona = { ...wholePersonas, locate: locatePersona } as const

export const backUpPersona = defineOperation({
  name: 'personas.backup',
  route: 'POST /api/personas/:id/backup',
  ...wholePersona,
  audited: true,
  summary: 'Backs up a persona on this machine.',
  input: z.object({ id }),
  output: backupRow,
  status: 201,
  run: async ({ app, signal }, _input, persona) => (await app.packages()).backups.create(persona, signal),
})

export const listBackups = defineOperation({
  name: 'personas.backups',
  route: 'GET /api/personas/:id/backups',
  ...wholePersona,
  summary: 'Lists the backups of a persona, newest first.',
  input: z.object({ id }),
  output: z.object({ backups: z.array(backupRow) }),
  run: async ({ app }, _input, persona) => ({ backups: await (await app.packages()).backups.list(persona) }),
})

export const restorePersona = defineOperation({
  name: 'personas.restore',
  route: 'POST /api/personas/:id/restore',
  ...wholePersona,
  audited: true,
  summary: 'Restores a persona from a backup (JSON {backup_id}; default the newest) or a package.',
  limit: packageLimits.bytes,
  upload: { field: 'package', as: 'stream', types: packageTypes },
  input: z.object({ id, package: bytes }),
  output: z.object({ restored: z.string(), backup_id: z.string(), memories: z.int(), adaptations: z.int() }),
  run: (call, input) => {
    const restore = async (upload: ReceivedPackage) => {
      const persona = await ownPersona(call, input.id)
      const { backups, packages } = await call.app.packages()
      const request = restoreRequest(upload)
      if (request) return backups.restore(persona, request.backup_id, call.signal)
      const { path, passphrase } = upload
      const replace = { mode: 'replace', dry_run: false, persona: persona.id, passphrase } as const
      const { backup_id = '', imported } = await packages.import(call.caller.id, path, replace, call.signal)
      return { restored: persona.id, backup_id, ...imported }
    }
    return received(call, input.package, restore, true)
  },
})

export const exportPersona = defineOperation({
  name: 'personas.export',
  route: 'POST /api/personas/:id/export',
  ...wholePersona,
  audited: true,
  summary:
    'Exports a persona as a package or its memories as JSON lines, encrypted with age when a passphrase is given, or as a character card.',
  input: z.object({
    id,
    passphrase: z.exactOptional(z.string().max(1000)),
    include_embeddings: z.boolean().default(true),
    format: z.enum(['json', 'container', 'card', 'card_png', 'jsonl']).default('json'),
  }),
  produces: ['application/json', 'application/zip', 'application/x-ndjson', 'application/octet-stream', 'image/png'],
  output: z.instanceof(Download),
  run: async ({ app, signal }, { passphrase, include_embeddings: embeddings, format }, persona) => {
    const { packages } = await app.packages()
    return download(await packages.export(persona, { format, passphrase, embeddings }, signal))
  },
})

export const importPersona = defineOperation({
  name: 'personas.import',
  failures: [404, 429],
  route: 'POST /api/personas/import',
  ...wholePersonas,
  audited: true,
  summary:
    'Imports a package, or a file of another program: a character card (JSON, PNG), a Letta agent file, an export of ChatGPT or Claude, or memories as JSON lines. An encrypted one is preceded by a line {"passphrase": …} in the same body.',
  limit: packageLimits.bytes,
  upload: { field: 'package', as: 'stream', types: packageTypes },
  query: ['mode', 'dry_run', 'persona', 'model', 'name', 'after', 'with_answers'],
  input: z.object({
    package: bytes,
    /** By default `merge` where a persona is named, and `create` otherwise. */
    mode: z.exactOptional(importOutcome.shape.mode),
    dry_run: queryFlag,
    persona: z.exactOptional(z.string()),
    model: z.exactOptional(z.string().trim().min(1).max(300)),
    /** Of a new persona, in place of the one in a file of another program. */
    name: z.exactOptional(displayName(200)),
    /** Leaves out older items of a file of another program: milliseconds since 1970 UTC. */
    after: z.exactOptional(z.coerce.number().int().min(0)),
    /** Takes the assistant's answers of exported conversations, too. */
    with_answers: queryFlag,
  }),
  output: importOutcome,
  status: 201,
  deed: ({ dry_run }, { persona_id: subject }) => (dry_run ? undefined : { subject }),
  run: (call, { package: pieces, ...request }) =>
    received(call, pieces, async ({ path, bytes, passphrase }) => {
      if (bytes === 0) throw new AppError('invalid', 'The file is empty: give a package or a character card')
      const { packages } = await call.app.packages()
      const { mode = request.persona === undefined ? 'create' : 'merge' } = request
      return call.app.imports.counted(() =>
        packages.import(call.caller.id, path, { ...request, mode, passphrase }, call.signal),
      )
    }),
})

export const verifyPersona = defineOperation({
  name: 'personas.verify',
  route: 'POST /api/personas/:id/verify',
  ...wholePersona,
  summary: 'Verifies a package, or without one the stored persona.',
  limit: packageLimits.bytes,
  upload: { field: 'package', as: 'stream', types: packageTypes },
  input: z.object({ id, package: bytes }),
  output: verification,
  run: (call, input) =>
    received(call, input.package, async ({ path, bytes, passphrase }) => {
      const { packages } = await call.app.packages()
      const found =
        bytes > 0
          ? await packages.verify(path, passphrase, call.signal)
          : await packages.verifyStored(await ownPersona(call, input.id), call.signal)
      return { ...found, problems: shortened(found.problems) }
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

/** Writes an upload to a file for `use`, and removes it. Counts as an import from its first byte, or `countEmpty`. */
async function received<T>(
  call: Call,
  pieces: AsyncIterable<Uint8Array>,
  use: (upload: ReceivedPackage) => Promise<T>,
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
    const upload = pieces instanceof LocalPackage ? pieces.received() : await receivePackage(counted(), scratch)
    try {
      return await use(upload)
    } finally {
      upload.discard()
    }
  } finally {
    leave?.()
  }
}

/** The longest body that can name a backup: bytes; a longer one is a package. */
const longestRestoreRequest = 1024

/** The backup that a body names; undefined for a package. */
function restoreRequest({ path, bytes }: ReceivedPackage): { readonly backup_id?: string } | undefined {
  if (bytes > longestRestoreRequest) return undefined
  const text = readFileSync(path, 'utf8').trim()
  if (text === '') return {}
  if (!text.startsWith('{')) return undefined
  return z.strictObject({ backup_id: z.exactOptional(z.string()) }).safeParse(parseJson(text)).data
}

/** Streams the file and removes it, also when the client disconnects. */
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
