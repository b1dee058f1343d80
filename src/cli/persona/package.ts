import { randomUUID } from 'node:crypto'
import { createWriteStream, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { AppError } from '../../errors.ts'
import type { Download } from '../../operations/operation.ts'
import { exportPersona, importPersona, restorePersona } from '../../operations/packages.ts'
import { notedFolder, openScratch, type Scratch } from '../../personas/package/scratch.ts'
import { LocalPackage } from '../../personas/package/upload.ts'
import { type Cli, note, show } from '../terminal/cli.ts'
import { openProgress } from '../terminal/progress.ts'
import { streamStdin } from '../terminal/stdin.ts'
import { askPassphrase } from './verify.ts'

export interface ExportOptions {
  readonly output?: string
  readonly format: string
  readonly encrypt?: boolean
  readonly passphraseStdin?: boolean
  readonly embeddings: boolean
  readonly force?: boolean
}

export interface ImportOptions {
  readonly mode: string
  readonly into?: string
  readonly model?: string
  readonly dryRun?: boolean
  readonly passphraseStdin?: boolean
}

/** Puts a backup in the place of a persona. */
export async function restore(cli: Cli, id: string, backup: string | undefined): Promise<void> {
  const wish = Buffer.from(JSON.stringify(backup === undefined ? {} : { backup_id: backup }))
  const restored = await cli.ask(restorePersona, { id, package: pieces(wish) })
  await show(cli, restored, (done) => done.restored)
  note(cli, `aichat: what it replaced is backed up: aichat persona restore ${id} ${restored.backup_id}`)
}

/** Writes a persona's package to a file, whole or not at all, or to stdout. */
export async function exportToFile(cli: Cli, id: string, options: ExportOptions): Promise<void> {
  const { output, force } = options
  const toFile = output !== undefined && output !== '-'
  const format = formatOf(options)
  const isSealed = options.encrypt === true || options.passphraseStdin === true
  if (!toFile && cli.io.stdoutIsTerminal && (isSealed || format === 'container'))
    throw new AppError('usage', 'A package of bytes is not written to a terminal', { details: ['Say -o FILE'] })
  if (toFile && !force && existsSync(output))
    throw new AppError('cannot_create', `${output} exists already`, { details: ['Say --force to replace it'] })
  const passphrase = isSealed ? await newPassphrase(cli, options.passphraseStdin === true) : undefined
  const answer = await cli.ask(exportPersona, {
    id,
    format,
    include_embeddings: options.embeddings,
    ...(passphrase !== undefined && { passphrase }),
  })
  const body = watched(cli, bytesOf(answer), Number(answer.headers['x-package-bytes']), 'exported')
  if (toFile) await save(cli, output, body)
  else for await (const piece of body) await cli.io.out(piece)
}

/** Takes in a package or character card. */
export async function importFile(cli: Cli, file: string, options: ImportOptions): Promise<void> {
  const mode = oneOf('--mode', options.mode, ['create', 'merge', 'replace'] as const)
  const imported = await cli.ask(importPersona, {
    package: file === '-' ? streamStdin(cli) : await openInput(cli, file, options),
    mode,
    dry_run: options.dryRun === true,
    ...(options.into !== undefined && { persona: options.into }),
    ...(options.model !== undefined && { model: options.model }),
  })
  await show(cli, imported, (done) => (done.dry_run ? '' : done.persona_id))
  const { memories, adaptations } = imported.imported
  const said = `${memories} memories and ${adaptations} adaptations ${imported.dry_run ? 'would be imported' : 'imported'}`
  note(cli, `aichat: ${said}${imported.duplicates > 0 ? `, ${imported.duplicates} were there already` : ''}`)
  for (const warning of imported.warnings) note(cli, `aichat: ${warning}`)
}

function formatOf({ format, output }: ExportOptions): 'json' | 'container' | 'card' | 'card_png' {
  const known = oneOf('--format', format, ['json', 'container', 'card'] as const)
  return known === 'card' && output?.toLowerCase().endsWith('.png') ? 'card_png' : known
}

function oneOf<T extends string>(flag: string, value: string, known: readonly T[]): T {
  const found = known.find((each) => each === value)
  if (found === undefined) throw new AppError('usage', `${flag} takes ${known.join(', ')}, not "${value}"`)
  return found
}

async function newPassphrase(cli: Cli, fromStdin: boolean): Promise<string> {
  const { askSecret, readSecrets } = await import('../terminal/prompts.ts')
  if (fromStdin) return (await readSecrets(cli, 1))[0]!
  return askSecret(cli, 'Passphrase', '--passphrase-stdin', { twice: true })
}

/** A package file with its passphrase. Throws `no_input` for a file that cannot be read. */
async function openInput(cli: Cli, file: string, options: ImportOptions): Promise<LocalPackage> {
  try {
    await (await open(file)).close()
  } catch (cause) {
    throw new AppError('no_input', `Cannot read ${file}: there is no such file that may be read`, { cause })
  }
  if (statSync(file).isDirectory()) throw new AppError('no_input', `Cannot read ${file}: it is a folder`)
  const passphrase = await askPassphrase(cli, file, options.passphraseStdin === true)
  const input = new LocalPackage(file, passphrase, (bytes) => watched(cli, bytes, input.bytes, 'read'))
  return input
}

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

async function* bytesOf({ body }: Download): AsyncGenerator<Uint8Array> {
  if (body instanceof Uint8Array) yield body
  else yield* body
}

/** The same bytes, with a bar on stderr that moves with them. */
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
      // Without a size there is nothing to measure by, and a short file is there before a bar is.
      if (size > 1_000_000) progress.show(done / size, `${(done / 1e6).toFixed(1)} MB ${verb}`)
      yield piece
    }
  } finally {
    progress.clear()
  }
}

/** Beside the file first, so that a reader sees a whole package or none. */
async function save(cli: Cli, path: string, body: AsyncIterable<Uint8Array>): Promise<void> {
  let folder: string | undefined
  let noted: ReturnType<Scratch['note']> | undefined
  try {
    const name = join(dirname(resolve(path)), `${notedFolder}${randomUUID()}`)
    // Should this process be killed, the next one removes what it had written.
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
