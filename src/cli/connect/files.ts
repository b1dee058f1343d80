import { existsSync } from 'node:fs'
import type { Client, ClientFile } from './client.ts'
import { applyEdits, EditProblem, type MadeEdit, takeBack } from './config/edits.ts'
import {
  bytesOf,
  digestOf,
  type FoundFile,
  readConfigFile,
  removeConfigFile,
  textOf,
  untouched,
  writeConfigFile,
} from './config/file.ts'
import type { Places } from './places.ts'
import type { WrittenFile } from './record.ts'

/** A change of a file that is decided and not made yet. */
export interface FilePlan {
  readonly file: ClientFile
  readonly found: FoundFile
  /** The file without the changes that an earlier connection made; null where there was none. */
  readonly base: { readonly bytes: Buffer; readonly mode: number } | null
  readonly bytes: Buffer
  readonly mode: number
  readonly made: readonly MadeEdit[]
  readonly before: WrittenFile | undefined
  /** The file has the content already. */
  readonly isDone: boolean
}

/** The paths of a client's files, behind links. Throws `invalid` for a file that cannot be changed. */
export function pathsOf({ files }: Client, places: Places): readonly string[] {
  const model = { id: '', name: '' }
  const found = files?.({ server: '', key: '', keyFile: '', model, models: [model] }, places) ?? []
  return found.map(({ path }) => readConfigFile(path).path)
}

/** Plans the changes of a client's files. Throws `invalid`, naming the file, for one that cannot take them. */
export function planFiles(files: readonly ClientFile[], written: readonly WrittenFile[] = []): readonly FilePlan[] {
  return files.map((file) => {
    const found = readConfigFile(file.path)
    const before = written.find(({ path }) => path === found.path)
    return orUntouched(file.path, () => {
      const base = baseOf(found, before)
      const start: FoundFile = { path: found.path, bytes: base?.bytes ?? null, mode: base?.mode ?? found.mode }
      const { text, made } = applyEdits(file.format, textOf(start), file.edits)
      const bytes = bytesOf(start, text)
      const isDone = found.bytes?.equals(bytes) === true && found.mode === start.mode
      return { file, found, base, bytes, mode: start.mode, made, before, isDone }
    })
  })
}

/** The file without the changes of an earlier connection. */
function baseOf(found: FoundFile, before: WrittenFile | undefined): FilePlan['base'] {
  if (found.bytes === null) return null
  if (!before) return { bytes: found.bytes, mode: found.mode }
  const original = originalOf(found, before)
  if (original !== undefined) return original && { bytes: original, mode: before.mode }
  const { text } = takeBack(before.format, textOf(found), before.edits)
  return { bytes: bytesOf(found, text), mode: before.mode }
}

/** The content before the connection, where the file is as it was written; null for no file, undefined where it has changed. */
function originalOf({ bytes }: FoundFile, { digest, backup }: WrittenFile): Buffer | null | undefined {
  if (bytes === null || digestOf(bytes) !== digest) return undefined
  if (backup === null) return null
  return existsSync(backup) ? (readConfigFile(backup).bytes ?? undefined) : undefined
}

/** Makes planned changes; where one fails those before it are taken back. Throws `cannot_create`. */
export function writePlans(plans: readonly FilePlan[]): readonly WrittenFile[] {
  const written: WrittenFile[] = []
  try {
    for (const plan of plans) written.push(writePlan(plan))
    return written
  } catch (reason) {
    for (const [at, { found, before }] of plans.slice(0, written.length).entries()) {
      const { made_folders: folders, backup } = written[at]!
      if (found.bytes === null) removeConfigFile(found.path, folders)
      else writeConfigFile(found.path, found.bytes, found.mode)
      if (backup !== null && !before) removeConfigFile(backup, [])
    }
    throw reason
  }
}

/** Makes a planned change, with a copy of the file as it was next to it. */
function writePlan(plan: FilePlan): WrittenFile {
  const { file, found, base, bytes, mode, made, before } = plan
  const backup = base && (before?.backup ?? freeName(`${found.path}.aichat-backup`))
  if (base && backup !== null) writeConfigFile(backup, base.bytes, base.mode)
  const folders = plan.isDone ? [] : writeConfigFile(found.path, bytes, mode)
  return {
    path: found.path,
    format: file.format,
    backup,
    mode: base?.mode ?? mode,
    made_folders: before && base === null ? before.made_folders : [...folders],
    digest: digestOf(bytes),
    edits: made.map((edit) => ({ ...edit, path: [...edit.path] })),
  }
}

/** The way back of a written file: its content before, null to remove it, undefined to leave it. */
export interface UndoPlan {
  readonly written: WrittenFile
  readonly content: Buffer | null | undefined
  readonly mode: number
  /** Values that were changed since and stay. */
  readonly kept: readonly string[]
}

/** Plans to undo: exactly where the file is as it was written, else by taking the client's own values out. Throws `invalid`. */
export function planUndo(written: WrittenFile): UndoPlan {
  const found = readConfigFile(written.path)
  const { mode } = written
  if (found.bytes === null) return { written, content: undefined, mode, kept: [] }
  const original = originalOf(found, written)
  if (original !== undefined) return { written, content: original, mode, kept: [] }
  return orUntouched(
    written.path,
    () => {
      const { text, kept } = takeBack(written.format, textOf(found), written.edits)
      const isEmpty = written.backup === null && /^(?:\{\s*\}|\[\s*\])?$/.test(text.trim())
      return { written, content: isEmpty ? null : bytesOf(found, text), mode: found.mode | mode, kept }
    },
    written.backup === null ? [] : [`The file as it was is ${written.backup}`],
  )
}

/** Restores a client's file as planned, and removes its backup. */
export function undoFile({ written, content, mode }: UndoPlan): void {
  if (content === null) removeConfigFile(written.path, written.made_folders)
  else if (content !== undefined) writeConfigFile(written.path, content, mode)
  if (written.backup !== null) removeConfigFile(written.backup, [])
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
