import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { AppError } from '../../errors.ts'
import type { BookFiles, BookState } from './book-files.ts'

/** A long text with the settings that decide how it sounds, and its output. */
export interface Book {
  readonly text: string
  readonly output: string
  readonly force: boolean
  readonly raw: boolean
  /** Whether the words' times are wanted. */
  readonly timestamps: boolean
  /** All else that decides how it sounds, by name. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly language?: string | undefined
  readonly seed?: number | undefined
}

/**
 * The state to go on from: an earlier run's of the same text, or a new one. Throws `cannot_create` where the files next to the
 * output are those of something else, unless `force` is set.
 */
export async function beginBook(
  files: BookFiles,
  book: Pick<Book, 'output' | 'force' | 'raw'>,
  { parts, stamp }: Pick<BookState, 'parts' | 'stamp'>,
): Promise<BookState> {
  const { output, force } = book
  const found = await files.read()
  const differences =
    found && Object.keys({ ...found.stamp, ...stamp }).filter((name) => found.stamp[name] !== stamp[name])
  const isSame = found !== undefined && differences!.length === 0 && found.parts === parts
  const existing = await stat(output).catch(() => undefined)
  // An earlier run was killed between its last two steps.
  if (
    isSame &&
    found.done === parts &&
    existing?.size === found.bytes + (book.raw ? 0 : 44) &&
    !(await files.hasAudio(found))
  )
    return found
  if (isSame && (found.bytes === 0 || (await files.hasAudio(found)))) return found
  if (found && !force)
    throw new AppError(
      'cannot_create',
      `${output} was begun ${isSame ? 'and its audio so far is gone' : `with another ${differences!.join(', ') || 'version of this program'}`}`,
      {
        details: [
          ...(isSame
            ? []
            : [
                `to go on, give the command with the same text and options; ${files.names.state} keeps how far it came`,
              ]),
          'to begin anew, add --force',
        ],
      },
    )
  if (existing && !force)
    throw new AppError('cannot_create', `${output} already exists`, { details: ['Add --force to replace it'] })
  if (!found && !force && (await files.isTaken()))
    throw new AppError('cannot_create', `${files.names.audio} already exists, without its state`, {
      details: ['move it away, or add --force to replace it'],
    })
  await files.remove()
  const state: BookState = {
    version: 1,
    stamp,
    parts,
    done: 0,
    bytes: 0,
    wordBytes: 0,
    sampleRate: 0,
    engine: '',
    spoken: 0,
    total: 0,
    rerolls: 0,
    skipped: [],
    estimated: false,
  }
  await files.write(state)
  return state
}

/** The seed, and digests of the text and the settings: the state does not reveal the text. */
export function stampOf({ text, settings, seed, language, raw, timestamps }: Book, partLimit: number) {
  const chosen = seed ?? Number.parseInt(digest(text).slice(0, 8), 16)
  const named = { text, ...settings, language: language ?? 'auto', raw, timestamps, 'part length': partLimit }
  const stamp: Record<string, string> = { seed: String(chosen) }
  for (const [name, value] of Object.entries(named))
    if (value !== undefined) stamp[name] = digest(String(value)).slice(0, 32)
  return { stamp, seed: chosen }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
