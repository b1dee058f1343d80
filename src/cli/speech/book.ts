import { isMostlyUnspoken, pauseAfter, sanitize, splitChunks } from '../../../speech/speech.ts'
import { AppError } from '../../errors.ts'
import { counted } from '../../formats/formats.ts'
import type { Download } from '../../operations/operations.ts'
import type { Cli } from '../terminal/cli.ts'
import { note } from '../terminal/output.ts'
import { countsOf, piecesOf, rerollsOf, skippedOf } from './answer-counts.ts'
import { type BookFiles, type BookState, openBookFiles } from './book-files.ts'
import { showBookProgress } from './book-progress.ts'
import { type Book, beginBook, stampOf } from './book-start.ts'
import { collectSamples } from './wav-reader.ts'
import { type HeardWords, readWordAnswer } from './word-answer.ts'

/** Characters of one request here: some two minutes of speech, the most that a killed run loses. */
const partLimit = 2000

/** Names in the state of pieces that could not be spoken. */
const keptNames = 20

/** A long text, and how its parts are spoken. */
export interface SpokenBook extends Book {
  /** Whether stage directions are read aloud. */
  readonly keepDirections: boolean | undefined
  /** Speaks one part. */
  ask(part: BookPart): Promise<Download>
  /** Takes the words when all are there, before the audio is in its place. */
  writeWords(heard: HeardWords): Promise<void>
}

export interface BookPart {
  readonly input: string
  readonly stream: false
  readonly seed: number
  readonly language?: string
  readonly timestamps?: true
}

/**
 * Speaks a long text part by part into a file. Finished parts are kept next to it, so that the same command continues
 * after a kill, a Ctrl-C or a failure; the result has the same bytes as that of an uninterrupted run. Returns the
 * counts of all parts. Throws `cannot_create` where the files next to the output belong to another text, voice or
 * setting, unless `force` is set.
 */
export async function speakBook(cli: Cli, book: SpokenBook): Promise<BookState> {
  const { keepDirections } = book
  const parts = splitChunks(book.text, partLimit).filter((part) => sanitize(part, { keepDirections }) !== '')
  if (parts.length === 0) throw new AppError('invalid', 'The text is empty')
  const files = openBookFiles(book.output, book.raw)
  const release = await files.take()
  try {
    return await speakParts(cli, book, { parts, files })
  } finally {
    release()
  }
}

interface BookWork {
  readonly parts: readonly string[]
  readonly files: BookFiles
}

async function speakParts(cli: Cli, book: SpokenBook, { parts, files }: BookWork): Promise<BookState> {
  const { stamp, seed } = stampOf(book, partLimit)
  let state = await beginBook(files, book, { parts: parts.length, stamp })
  if (state.done > 0 && state.done < parts.length)
    note(cli, `going on after ${state.done} of ${counted(parts.length, 'part')}`)
  const progress = showBookProgress(cli, parts, state.done)
  let refusal: AppError | undefined
  try {
    for (let index = state.done; index < parts.length; index++) {
      progress.begin(index)
      const input = parts[index]!
      const { language } = book
      const part = {
        input,
        stream: false,
        seed: partSeed(seed, index),
        ...(language !== undefined && { language }),
      } as const
      const answer = await speakPart(cli, { ...part, ...(book.timestamps && { timestamps: true }) }, book)
      const spoken = answer instanceof AppError ? undefined : answer
      if (answer instanceof AppError) refusal = answer
      const next = spoken === undefined ? skipPart(state, input) : addPart(state, spoken)
      const pause =
        spoken && state.bytes > 0 ? silence(pauseAfter(parts[index - 1]!), next.sampleRate) : Buffer.alloc(0)
      const offset = (state.bytes + pause.length) / 2 / Math.max(1, next.sampleRate)
      const words = (spoken?.words.words ?? []).map(({ text, start, end }) => ({
        text,
        start: Math.round(1000 * (offset + start)) / 1000,
        end: Math.round(1000 * (offset + end)) / 1000,
      }))
      const samples = spoken ? Buffer.concat([pause, spoken.samples]) : pause
      const sizes = samples.length > 0 ? await files.append(next, samples, words) : {}
      state = { ...next, ...sizes, done: index + 1 }
      await files.write(state)
    }
    if (state.spoken === 0) throw refusal ?? new AppError('unavailable', 'No part of the text could be spoken')
    if (book.timestamps) await book.writeWords({ words: await files.words(state), estimated: state.estimated })
    if (await files.hasAudio(state)) await files.finish(state)
    await files.remove()
    return state
  } catch (thrown) {
    progress.clear()
    // Without a finished part there is nothing to go on from.
    if (state.done === 0) await files.remove().catch(() => {})
    throw kept(cli, thrown, state, files)
  } finally {
    progress.clear()
  }
}

function partSeed(seed: number, index: number): number {
  return (seed + Math.imul(index, 0x27d4_eb2f)) >>> 0
}

interface SpokenPart {
  readonly samples: Buffer
  readonly sampleRate: number
  readonly words: HeardWords
  /** Carries the counts in its headers. */
  readonly answer: Download
}

/** Tries of a part at a server that is busy. */
const busyTries = 5

/** Speaks a part; returns the refusal of one that is mostly in a language or in letters that the engine cannot say. */
async function speakPart(cli: Cli, part: BookPart, book: SpokenBook): Promise<SpokenPart | AppError> {
  for (let tries = 1; ; tries++) {
    try {
      const answer = await book.ask(part)
      const { audio, heard } = book.timestamps
        ? readWordAnswer(answer)
        : { audio: answer, heard: { words: [], estimated: false } }
      const { samples, sampleRate } = await collectSamples(piecesOf(audio))
      return { samples, sampleRate, words: heard, answer: audio }
    } catch (thrown) {
      if (thrown instanceof AppError && isMostlyUnspoken(thrown)) return thrown
      const wait = thrown instanceof AppError && thrown.code === 'busy' ? thrown.retryAfter : undefined
      if (wait === undefined || tries >= busyTries) throw thrown
      await pauseFor(Math.min(30, wait) * 1000, cli.signal())
    }
  }
}

function addPart(state: BookState, { sampleRate, words, answer }: SpokenPart): BookState {
  const engine = answer.headers['x-speech-engine'] ?? ''
  if (state.sampleRate > 0 && (state.engine !== engine || state.sampleRate !== sampleRate))
    throw new AppError(
      'unavailable',
      `The parts so far were spoken by the ${state.engine} engine, and now ${engine || 'another one'} answers`,
      {
        details: ['use the same server and model again, or begin anew with --force'],
      },
    )
  const [spoken, total] = countsOf(answer)
  return {
    ...state,
    sampleRate,
    engine,
    spoken: state.spoken + spoken,
    total: state.total + total,
    rerolls: state.rerolls + rerollsOf(answer),
    skipped: [...state.skipped, ...skippedOf(answer)].slice(0, keptNames),
    estimated: state.estimated || words.estimated,
  }
}

function skipPart(state: BookState, text: string): BookState {
  const name = [...text.replace(/\s+/g, ' ')].slice(0, 40).join('')
  return { ...state, total: state.total + 1, skipped: [...state.skipped, name].slice(0, keptNames) }
}

function silence(seconds: number, sampleRate: number): Buffer {
  return Buffer.alloc(2 * Math.round(seconds * sampleRate))
}

/** The failure with the way to go on; a Ctrl-C is reported as a remark. */
function kept(cli: Cli, thrown: unknown, { done, parts, bytes }: BookState, { names }: BookFiles): unknown {
  const place = bytes > 0 ? names.audio : names.state
  const advice =
    done === 0
      ? `none of ${counted(parts, 'part')} was finished, and nothing is kept`
      : `${done} of ${counted(parts, 'part')} ${done === 1 ? 'is' : 'are'} kept in ${place}; the same command goes on from there`
  if (cli.io.signal.aborted) {
    note(cli, `aichat: stopped: ${advice}`)
    return thrown
  }
  if (!(thrown instanceof AppError)) {
    if (cli.signal().aborted) note(cli, `aichat: ${advice}`)
    return thrown
  }
  const { code, message, details, retryAfter } = thrown
  return new AppError(code, message, {
    details: [...details, advice],
    cause: thrown,
    ...(retryAfter !== undefined && { retryAfter }),
  })
}

function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', end)
      resolve()
    }, ms)
    signal.addEventListener('abort', end, { once: true })
  })
}
