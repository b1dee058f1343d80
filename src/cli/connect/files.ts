import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import type { ClientFile } from './client.ts'
import { applyEdits, type ConfigFormat, EditProblem, takeBack } from './config/edits.ts'
import { bytesOf, type FoundFile, readConfigFile, textOf, untouched, writeConfigFile } from './config/file.ts'
import { jsonFormat } from './config/json.ts'
import { tomlFormat } from './config/toml.ts'
import type { WrittenFile } from './record.ts'

const formats: Readonly<Record<WrittenFile['format'], ConfigFormat>> = { json: jsonFormat, toml: tomlFormat }

/** A change of a client's file that is decided and not made yet. */
export interface FilePlan {
  readonly found: FoundFile
  readonly text: string
  readonly written: WrittenFile
  /** The file has the content already. */
  readonly isDone: boolean
}

/**
 * Plans the change of a client's file; the fields of an earlier connection are taken out first. Throws `invalid`, naming the
 * file, for one that cannot take it.
 */
export function planFile({ path, format, edits }: ClientFile, before: WrittenFile | undefined): FilePlan {
  const found = readConfigFile(path)
  const current = textOf(found)
  return orUntouched(path, () => {
    const isSame =
      before &&
      isDeepStrictEqual(before.edits.map(fieldOf), edits.map(fieldOf)) &&
      applyEdits(formats[format], current, edits).text === current
    if (isSame) return { found, text: current, written: before, isDone: true }
    const isChanged = before !== undefined && (found.bytes === null || digestOf(found.bytes) !== before.digest)
    const start = before ? takeBack(formats[format], current, before.edits).text : current
    const { text, made } = applyEdits(formats[format], start, edits)
    const backup = before || found.bytes === null ? null : freeName(`${found.path}.aichat-backup`)
    const written = {
      path: found.path,
      format,
      backup: before?.backup ?? backup,
      // The copy lacks what was changed since the first connection: it is not put back whole.
      digest: isChanged ? '' : digestOf(bytesOf(found, text)),
      edits: made.map((edit) => ({ ...edit, path: [...edit.path] })),
    }
    return { found, text, written, isDone: false }
  })
}

/** Makes a planned change, with a copy of the file as it was before the first one. Throws `cannot_create`. */
export function writePlan({ found, text, written: { backup }, isDone }: FilePlan): void {
  if (isDone) return
  if (backup !== null && found.bytes !== null && !existsSync(backup)) writeConfigFile(backup, found.bytes, found.mode)
  writeConfigFile(found.path, bytesOf(found, text), found.mode)
}

/** The file without the fields of a connection. */
export interface UndoPlan {
  readonly found: FoundFile
  readonly backup: string | null
  /** Undefined where nothing of it is left. */
  readonly bytes: Buffer | undefined
  /** Values that were changed since and stay. */
  readonly kept: readonly string[]
}

/**
 * Plans to put the copy of a client's file back, or to take our fields out where the file has changed since. Throws
 * `invalid`, naming the copy.
 */
export function planUndo({ path, format, backup, digest, edits }: WrittenFile): UndoPlan {
  const found = readConfigFile(path)
  if (found.bytes === null) return { found, backup, bytes: undefined, kept: [] }
  if (digestOf(found.bytes) === digest && (backup === null || existsSync(backup)))
    return { found, backup, bytes: backup === null ? undefined : readFileSync(backup), kept: [] }
  return orUntouched(
    path,
    () => {
      const { text, kept } = takeBack(formats[format], textOf(found), edits)
      const isEmpty = backup === null && /^(?:\{\s*\})?$/.test(text.trim())
      return { found, backup, bytes: isEmpty ? undefined : bytesOf(found, text), kept }
    },
    backup === null ? [] : [`The file as it was is ${backup}`],
  )
}

/** Writes the file as planned, and removes the copy of it. */
export function undoFile({ found, backup, bytes }: UndoPlan): void {
  if (bytes === undefined) rmSync(found.path, { force: true })
  else writeConfigFile(found.path, bytes, found.mode)
  if (backup !== null) rmSync(backup, { force: true })
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function fieldOf({ path, value }: ClientFile['edits'][number]) {
  return { path, value }
}

/** A name that no file has yet: a copy of an earlier time is not overwritten. */
function freeName(path: string): string {
  for (let count = 1; ; count++) {
    const name = count === 1 ? path : `${path}-${count}`
    if (!existsSync(name)) return name
  }
}

function orUntouched<T>(path: string, work: () => T, details: readonly string[] = []): T {
  try {
    return work()
  } catch (reason) {
    if (!(reason instanceof EditProblem)) throw reason
    throw untouched(path, reason.message, details)
  }
}
