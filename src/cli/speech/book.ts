import { createHash, randomUUID } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { detectLanguage } from '../../../speech/text/languages.ts'
import { sanitize } from '../../../speech/text/sanitize.ts'
import { countCharacters, pauseAfter, splitChunks } from '../../../speech/text/sentences.ts'
import { isMostlyUnspoken } from '../../../speech/text/unspoken.ts'
import { AppError } from '../../errors.ts'
import { counted } from '../../formats/counted.ts'
import type { Download } from '../../operations/operation.ts'
import type { Cli } from '../terminal/cli.ts'
import { note } from '../terminal/output.ts'
import { openProgress } from '../terminal/progress.ts'
import { countsOf, piecesOf, rerollsOf, skippedOf } from './answer-counts.ts'
import { type BookFiles, type BookState, openBookFiles } from './book-files.ts'
import { collectWav } from './wav-reader.ts'
import { type HeardWords, readWordAnswer } from './word-answer.ts'

/** Characters of one request here: some two minutes of speech, which is what a killed run loses at most. */
const partLimit = 2000

/** Names in the state of pieces that could not be spoken. */
const keptNames = 20

/** A long text, and how its parts are spoken. */
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
  /** Speaks one part. */
  ask(part: BookPart): Promise<Download>
  /** Takes the words when all are there, before the audio is in its place. */
  writeWords(heard: HeardWords): Promise<void>
}

export interface BookPart {
  readonly input: string
  readonly stream: false
  readonly seed: number
  readonly language: string
  readonly timestamps?: true
}

/**
 * Speaks a long text part by part into a file. What is made is kept beside it, so that the same command goes on after a kill,
 * a Ctrl-C or a failure; the result has the same bytes as that of a run without one. Returns the counts of all parts. Throws
 * `cannot_create` where the files beside the output belong to another text, voice or setting, unless `force` is set.
 */
export async function speakBook(cli: Cli, book: Book): Promise<BookState> {
  const parts = splitChunks(book.text, partLimit).filter((part) => sanitize(part) !== '')
  if (parts.length === 0) throw new AppError('invalid', 'The text is empty')
  const language = book.language ?? (await detectLanguage(book.text))
  const files = openBookFiles(book.output, book.raw)
  const { stamp, seed } = stampOf(book)
  let state = await begin(files, book, { parts: parts.length, stamp })
  if (state.done > 0 && state.done < parts.length)
    note(cli, `going on after ${state.done} of ${counted(parts.length, 'part')}`)
  const progress = showProgress(cli, parts, state.done)
  try {
    for (let index = state.done; index < parts.length; index++) {
      progress.begin(index)
      const input = parts[index]!
      const part = { input, stream: false, seed: partSeed(seed, index), language } as const
      const spoken = await speakPart(cli, { ...part, ...(book.timestamps && { timestamps: true }) }, book)
      if ((await files.read())?.run !== state.run)
        throw new AppError('cannot_create', `Another command writes ${book.output} now`)
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
    if (state.spoken === 0) throw new AppError('unavailable', 'No part of the text could be spoken')
    if (book.timestamps) await book.writeWords({ words: await files.words(state), estimated: state.estimated })
    if (await files.hasAudio(state)) await files.finish(state)
    await files.remove()
    return state
  } catch (thrown) {
    progress.clear()
    throw kept(cli, thrown, state, files)
  } finally {
    progress.clear()
  }
}

/** The state to go on from: an earlier run's of the same text, or a new one. */
async function begin(
  files: BookFiles,
  book: Book,
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
  if (isSame && (found.bytes === 0 || (await files.hasAudio(found)))) {
    const state = { ...found, run: randomUUID() }
    await files.write(state)
    return state
  }
  if (found && !force)
    throw new AppError(
      'cannot_create',
      `${output} was begun ${isSame ? 'and its audio so far is gone' : `with another ${differences!.join(', ')}`}`,
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
    run: randomUUID(),
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

/** Digests of the text and the settings: the state tells no one what was spoken. */
function stampOf({ text, settings, seed, language, raw, timestamps }: Book) {
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

/** Speaks a part; undefined for one that is mostly in letters that the engine cannot say. */
async function speakPart(cli: Cli, part: BookPart, book: Book): Promise<SpokenPart | undefined> {
  for (let tries = 1; ; tries++) {
    try {
      const answer = await book.ask(part)
      const { audio, heard } = book.timestamps
        ? readWordAnswer(answer)
        : { audio: answer, heard: { words: [], estimated: false } }
      const { samples, sampleRate } = await collectWav(piecesOf(audio))
      return { samples, sampleRate, words: heard, answer: audio }
    } catch (thrown) {
      if (isMostlyUnspoken(thrown)) return undefined
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

/** The failure with the way to go on; a Ctrl-C is told as a remark. */
function kept(cli: Cli, thrown: unknown, { done, parts }: BookState, { names }: BookFiles): unknown {
  const advice = `${done} of ${counted(parts, 'part')} ${done === 1 ? 'is' : 'are'} kept in ${names.audio}; the same command goes on from there`
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

/** A bar with the share of the characters that are spoken; within a part it moves at the pace of those before. */
function showProgress(cli: Cli, parts: readonly string[], first: number) {
  const sizes = parts.map(countCharacters)
  const all = sizes.reduce((sum, size) => sum + size, 0)
  const before = (index: number) => sizes.slice(0, index).reduce((sum, size) => sum + size, 0)
  const progress = openProgress(cli, before(first) / all)
  const startedAt = performance.now()
  let timer: NodeJS.Timeout | undefined
  return {
    begin(index: number) {
      clearInterval(timer)
      const done = before(index)
      const partAt = performance.now()
      const perMs = (done - before(first)) / Math.max(1, partAt - startedAt)
      const show = () => {
        const guessed = Math.min(0.95 * sizes[index]!, perMs * (performance.now() - partAt))
        progress.show((done + guessed) / all, `${index} of ${counted(parts.length, 'part')} spoken`)
      }
      show()
      timer = setInterval(show, 1000).unref()
    },
    clear() {
      clearInterval(timer)
      progress.clear()
    },
  }
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
