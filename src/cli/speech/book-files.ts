import { chmod, lstat, open, readFile, rename, rm } from 'node:fs/promises'
import { z } from 'zod'
import { type WordTime, wavHeader } from '../../../speech/speech.ts'
import { AppError } from '../../errors.ts'
import { explain } from '../terminal/files.ts'

const state = z.object({
  version: z.literal(1),
  /** Everything that decides how the text sounds, by its name; a difference makes it another recording. */
  stamp: z.record(z.string(), z.string()),
  parts: z.int().min(1),
  /** Parts that are in the files beside this one. */
  done: z.int().min(0),
  /** Bytes of the audio so far, and of its words. */
  bytes: z.int().min(0),
  wordBytes: z.int().min(0),
  /** Hertz; 0 before the first part is there. */
  sampleRate: z.int().min(0),
  engine: z.string(),
  /** Chunks and pieces of the text: spoken, all, and spoken again. */
  spoken: z.int(),
  total: z.int(),
  rerolls: z.int(),
  /** The first pieces that could not be spoken. */
  skipped: z.array(z.string()).max(20),
  estimated: z.boolean(),
})

/** How far the recording of a long text has come. */
export type BookState = z.infer<typeof state>

/** Size of the header that is written before the samples, in bytes. */
const headerSize = 44

/** The files next to an output while it is made: the audio and the words so far, and the state, readable by their owner alone. */
export interface BookFiles {
  /** Their names, for messages. */
  readonly names: { readonly audio: string; readonly state: string }
  /** Keeps other commands from the files until the returned function is called. Throws `cannot_create` where one writes them. */
  take(): Promise<() => void>
  /** The state that an earlier run left. Throws `cannot_create` where the files are not those of a recording. */
  read(): Promise<BookState | undefined>
  /** Replaces the state, whole also after a crash. */
  write(next: BookState): Promise<void>
  /** Whether a file with the name of the audio is there. */
  isTaken(): Promise<boolean>
  /** Whether the audio is there with all bytes that the state tells. */
  hasAudio(current: BookState): Promise<boolean>
  /**
   * Writes samples and words behind the sizes in the state and flushes them; bytes left there by a killed run are cut
   * off. Returns the new sizes.
   */
  append(
    current: BookState,
    samples: Uint8Array,
    words: readonly WordTime[],
  ): Promise<Pick<BookState, 'bytes' | 'wordBytes'>>
  words(current: BookState): Promise<WordTime[]>
  /** Completes the audio and puts it in the output's place. */
  finish(current: BookState): Promise<void>
  /** Removes all files but the output. */
  remove(): Promise<void>
}

/** The files of an output; `raw` leaves the WAV header out. Each method throws `cannot_create` with the file and the reason. */
export function openBookFiles(output: string, raw: boolean): BookFiles {
  const audio = `${output}.part`
  const statePath = `${output}.state`
  const wordsPath = `${output}.words`
  const lockPath = `${output}.lock`
  const lead = raw ? 0 : headerSize

  return {
    names: { audio, state: statePath },
    take: () =>
      explained(lockPath, async () => {
        const { dropLock, lockMark, tryLock } = await import('../../storage/files/file-lock.ts')
        const mark = lockMark()
        // The first try removes the lock of a command that was killed.
        if (!tryLock(lockPath, mark, Infinity) && !tryLock(lockPath, mark, Infinity))
          throw new AppError('cannot_create', `Another command writes ${output} now`, {
            details: [`If none does, remove ${lockPath}`],
          })
        return () => dropLock(lockPath, mark)
      }),
    async read() {
      const text = await explained(statePath, () => readFile(statePath, 'utf8').catch(absent))
      if (text === undefined) return undefined
      const parsed = state.safeParse(parse(text))
      if (parsed.success) return parsed.data
      throw new AppError('cannot_create', `${statePath} is no state of a recording`, {
        details: ['move it away, or choose another name with -o'],
      })
    },
    write: (next) =>
      explained(statePath, async () => {
        const { replaceFile } = await import('../../storage/files/atomic.ts')
        replaceFile(statePath, `${JSON.stringify(next, null, 1)}\n`, 0o600)
      }),
    isTaken: async () => (await lstat(audio).catch(() => undefined)) !== undefined,
    async hasAudio({ bytes }) {
      const found = await lstat(audio).catch(() => undefined)
      return found?.isFile() === true && found.size >= lead + bytes
    },
    async append(current, samples, words) {
      const header = raw ? Buffer.alloc(0) : wavHeader(current.sampleRate)
      const isFirst = current.bytes === 0
      await writeAt(audio, lead + current.bytes, samples, { create: isFirst, ...(isFirst && { header }) })
      const lines = Buffer.from(words.map((word) => `${JSON.stringify(word)}\n`).join(''))
      if (lines.length > 0) await writeAt(wordsPath, current.wordBytes, lines, { create: current.wordBytes === 0 })
      return { bytes: current.bytes + samples.length, wordBytes: current.wordBytes + lines.length }
    },
    async words({ wordBytes }) {
      if (wordBytes === 0) return []
      const bytes = await explained(wordsPath, () => readFile(wordsPath))
      const lines = bytes.toString('utf8', 0, wordBytes).trimEnd().split('\n')
      return lines.map((line) => JSON.parse(line) as WordTime)
    },
    finish: ({ sampleRate, bytes }) =>
      explained(output, async () => {
        await writeAt(audio, lead + bytes, new Uint8Array(), raw ? {} : { header: wavHeader(sampleRate, bytes) })
        await chmod(audio, 0o644 & ~process.umask())
        await rename(audio, output)
      }),
    async remove() {
      for (const path of [wordsPath, audio, statePath]) await rm(path, { force: true })
    },
  }
}

/**
 * Writes bytes at a place, and where given a header at the beginning; cuts the file behind them and flushes it. A file that is
 * gone is not made again but with `create`: it would have a hole.
 */
async function writeAt(
  path: string,
  at: number,
  bytes: Uint8Array,
  { header, create = false }: { readonly header?: Uint8Array; readonly create?: boolean },
): Promise<void> {
  await explained(path, async () => {
    const file = await open(path, 'r+').catch(async (reason: unknown) => {
      if (!create) throw reason
      absent(reason)
      return await open(path, 'wx', 0o600)
    })
    try {
      await file.truncate(at)
      if (header) await writeWhole(file, header, 0)
      await writeWhole(file, bytes, at)
      await file.sync()
    } finally {
      await file.close()
    }
  })
}

async function writeWhole(file: Awaited<ReturnType<typeof open>>, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; )
    done += (await file.write(bytes, done, bytes.length - done, at + done)).bytesWritten
}

async function explained<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (reason) {
    if (reason instanceof AppError) throw reason
    throw new AppError('cannot_create', `Cannot write ${path}: ${explain(reason)}`, { cause: reason })
  }
}

/** Turns the error of an absent file into `undefined`. */
function absent(reason: unknown): undefined {
  if ((reason as NodeJS.ErrnoException).code !== 'ENOENT') throw reason
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
