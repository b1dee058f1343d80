import { randomUUID } from 'node:crypto'
import { createWriteStream, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { z } from 'zod'
import { AppError } from '../../errors.ts'
import { counted } from '../../formats/formats.ts'
import {
  backUpPersona,
  type Download,
  exportPersona,
  importPersona,
  listBackups,
  restorePersona,
} from '../../operations/operations.ts'
import { LocalPackage, notedFolder, openScratch, type Scratch } from '../../personas/personas.ts'
import type { Cli } from '../terminal/cli.ts'
import { fieldsOf } from '../terminal/fields.ts'
import { note, print } from '../terminal/output.ts'
import { given } from '../terminal/parsers.ts'
import { openProgress } from '../terminal/progress.ts'
import { askSecret } from '../terminal/prompts.ts'
import { streamStdin } from '../terminal/stdin.ts'
import { listing } from '../terminal/table.ts'
import { timeText } from '../terminal/times.ts'
import { askPassphrase } from './verify.ts'

interface ExportOptions {
  readonly output?: string
  readonly format: 'json' | 'container' | 'card' | 'jsonl'
  readonly encrypt?: boolean
  readonly passphraseStdin?: boolean
  readonly force?: boolean
}

interface ImportOptions {
  readonly passphraseStdin?: boolean
}

/** Backs up a persona, or lists its backups. */
export async function backup(cli: Cli, id: string, { list }: { list?: boolean }): Promise<void> {
  if (!list) return print(cli, await cli.ask(backUpPersona, { id }), ({ backup_id }) => backup_id)
  await print(cli, await cli.ask(listBackups, { id }), ({ backups }) =>
    listing(cli, backups, `no backups yet; make one: aichat persona backup ${id}`, [
      ['BACKUP', (row) => row.backup_id],
      ['TIME', (row) => timeText(cli, row.created_at)],
      ['MEMORIES', (row) => String(row.memories)],
      ['BYTES', (row) => String(row.bytes)],
      ['WHY', (row) => row.reason.replace('_', ' ')],
    ]),
  )
}

/** Replaces a persona by a backup, the newest by default. */
export async function restore(cli: Cli, id: string, backup: string | undefined): Promise<void> {
  const request = Buffer.from(JSON.stringify(given({ backup_id: backup })))
  const restored = await cli.ask(restorePersona, { id, package: pieces(request) })
  await print(cli, restored, (done) => done.restored)
  note(cli, `aichat: to undo this: aichat persona restore ${id} ${restored.backup_id}`)
}

/** Writes a package or card to a file, atomically, or to stdout. */
export async function exportPackage(cli: Cli, id: string, options: ExportOptions): Promise<void> {
  const { output, force } = options
  const toFile = output !== undefined && output !== '-'
  const format = formatOf(options)
  const isEncrypted = options.encrypt === true || options.passphraseStdin === true
  if (!toFile && cli.io.stdoutIsTerminal && (isEncrypted || format === 'container'))
    throw new AppError('usage', 'Refusing to write binary data to a terminal', { details: ['Use -o FILE'] })
  if (toFile && !force && existsSync(output))
    throw new AppError('cannot_create', `${output} already exists`, { details: ['Add --force to replace it'] })
  const asked = { twice: true, piped: options.passphraseStdin }
  const passphrase = isEncrypted ? await askSecret(cli, 'Passphrase', '--passphrase-stdin', asked) : undefined
  const answer = await cli.ask(exportPersona, { ...fieldsOf(cli, exportPersona), id, format, ...given({ passphrase }) })
  const body = watched(cli, bytesOf(answer), Number(answer.headers['x-package-bytes']), 'exported')
  if (toFile) await save(cli, output, body)
  else for await (const piece of body) await cli.io.out(piece)
}

/** Imports a package or a file of another program. */
export async function importPackage(cli: Cli, file: string, options: ImportOptions): Promise<void> {
  const imported = await cli.ask(importPersona, {
    ...fieldsOf(cli, importPersona),
    package: file === '-' ? streamStdin(cli) : await openInput(cli, file, options),
  })
  await print(cli, imported, (done) => (done.dry_run ? '' : done.persona_id))
  note(cli, `aichat: ${summaryOf(imported)}`)
  for (const { what, count } of imported.left_out ?? []) note(cli, `aichat: left out: ${count} ${what}`)
  for (const warning of imported.warnings) note(cli, `aichat: ${warning}`)
}

function summaryOf({ imported, ...about }: z.output<typeof importPersona.output>): string {
  const { conversations, duplicates } = about
  const memories = counted(imported.memories, 'memory', 'memories')
  const from = conversations === undefined ? '' : ` of ${counted(conversations, 'conversation')}`
  const verb = about.dry_run ? 'would be imported' : 'imported'
  const into = conversations === undefined ? '' : ` into "${about.name}"`
  const found = duplicates > 0 ? `, ${duplicates} already existed` : ''
  return `${memories}${from} and ${counted(imported.adaptations, 'adaptation')} ${verb}${into}${found}`
}

function formatOf({ format, output }: ExportOptions): ExportOptions['format'] | 'card_png' {
  return format === 'card' && output?.toLowerCase().endsWith('.png') ? 'card_png' : format
}

/** A package file with its passphrase. Throws `no_input` for a file that cannot be read. */
async function openInput(cli: Cli, file: string, options: ImportOptions): Promise<LocalPackage> {
  try {
    await (await open(file)).close()
  } catch (cause) {
    throw new AppError('no_input', `Cannot read ${file}: file not found or not readable`, { cause })
  }
  if (statSync(file).isDirectory()) throw new AppError('no_input', `Cannot read ${file}: it is a folder`)
  const passphrase = await askPassphrase(cli, file, options.passphraseStdin === true)
  const input: LocalPackage = new LocalPackage(file, passphrase, (bytes) => watched(cli, bytes, input.bytes, 'read'))
  return input
}

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

async function* bytesOf({ body }: Download): AsyncGenerator<Uint8Array> {
  if (body instanceof Uint8Array) yield body
  else yield* body
}

/** Passes bytes through and shows progress on stderr. */
async function* watched(
  cli: Cli,
  body: AsyncIterable<Uint8Array>,
  size: number,
  verb: string,
): AsyncGenerator<Uint8Array> {
  const progress = openProgress(cli)
  let done = 0
  try {
    for await (const piece of body) {
      done += piece.length
      // No bar for an unknown size (NaN) or below 1 MB.
      if (size > 1_000_000) progress.show(done / size, `${(done / 1e6).toFixed(1)} MB ${verb}`)
      yield piece
    }
  } finally {
    progress.clear()
  }
}

/** Writes atomically: to a temporary folder beside the file, then renames. */
async function save(cli: Cli, path: string, body: AsyncIterable<Uint8Array>): Promise<void> {
  let folder: string | undefined
  let noted: ReturnType<Scratch['note']> | undefined
  try {
    const name = join(dirname(resolve(path)), `${notedFolder}${randomUUID()}`)
    // If this process is killed, the next start removes the noted folder.
    noted = openScratch(join((await cli.settings()).paths.state, 'packages'), randomUUID).note(name)
    mkdirSync(name, { mode: 0o700 })
    folder = name
    const temporary = join(folder, 'package')
    await pipeline(body, createWriteStream(temporary, { mode: 0o600, flush: true }))
    renameSync(temporary, path)
  } catch (reason) {
    if (reason instanceof AppError) throw reason
    throw new AppError('cannot_create', `Cannot write ${path}`, { cause: reason })
  } finally {
    if (folder) rmSync(folder, { recursive: true, force: true })
    noted?.forget()
  }
}
