import { setTimeout } from 'node:timers/promises'
import {
  collectSamples,
  countsOf,
  encodeFile,
  isMostlyUnspoken,
  pauseAfter,
  piecesOf,
  sanitize,
  skippedOf,
  splitChunks,
  withTurns,
} from '../../../speech/speech.ts'
import { AppError } from '../../errors.ts'
import { counted } from '../../formats/formats.ts'
import type { Download } from '../../operations/operations.ts'
import type { Cli } from '../terminal/cli.ts'
import { streamOutput } from '../terminal/files.ts'
import { note } from '../terminal/output.ts'
import { openProgress } from '../terminal/progress.ts'
import { type KeptParts, openKeptParts, type PartFacts, partKey } from './book-parts.ts'

/** Characters of one request here: some two minutes of speech, the most that a killed run loses. */
const partLimit = 2000

/** Pieces that could not be spoken and are named. */
const mostNames = 20

/** The file of an output: its format, and what its tags say. */
export type SpokenFile = Parameters<typeof encodeFile>[1]

/** A long text, and how its parts are spoken. */
export interface SpokenBook {
  readonly text: string
  readonly output: string
  readonly force: boolean
  readonly file: SpokenFile
  /** All else that decides how it sounds, by name. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly language?: string | undefined
  readonly speed?: number | undefined
  readonly seed?: number | undefined
  /** Whether stage directions are read aloud. */
  readonly keepDirections: boolean | undefined
  ask(part: BookPart): Promise<Download>
}

export interface BookPart {
  readonly input: string
  readonly stream: false
  readonly seed: number
  readonly language?: string
}

export type Spoken = Pick<PartFacts, 'engine' | 'spoken' | 'total' | 'skipped'> & {
  readonly seconds: number
}

/** A part with its answer, and the silence before it; without facts where it could not be spoken. */
interface PlacedPart {
  readonly text: string
  readonly key: string
  readonly facts: PartFacts | undefined
  /** Bytes. */
  readonly pause: number
}

/**
 * Speaks a long text part by part into a file. Finished parts are kept next to it, so that the same command continues
 * after a kill, a Ctrl-C or a failure; the result has the same bytes as that of an uninterrupted run.
 */
export async function speakBook(cli: Cli, book: SpokenBook): Promise<Spoken> {
  const { keepDirections } = book
  const divided = splitChunks(book.text, partLimit)
  const whole = book.settings['speakers'] ? withTurns(divided) : divided
  const texts = whole.filter((part) => sanitize(part, { keepDirections }) !== '')
  if (texts.length === 0) throw new AppError('invalid', 'The text is empty')
  const kept = openKeptParts(book.output)
  const parts = await speakParts(cli, book, texts, kept)
  const bytes = parts.reduce((sum, { facts, pause }) => sum + pause + (facts?.bytes ?? 0), 0)
  const sampleRate = parts.find(({ facts }) => facts)!.facts!.sampleRate
  const counts = countsOfParts(parts)
  const file = { ...book.file, engine: counts.engine }
  const audio = encodeFile(samplesOf(parts, kept), file, { sampleRate, dataBytes: bytes })
  await streamOutput(book.output, audio, book.force)
  await kept.remove()
  return { ...counts, seconds: bytes / 2 / sampleRate }
}

/** Speaks the parts that are not kept yet. Throws where none could be spoken, and says how to go on after a failure. */
async function speakParts(
  cli: Cli,
  book: SpokenBook,
  texts: readonly string[],
  kept: KeptParts,
): Promise<readonly PlacedPart[]> {
  const { language, settings } = book
  // The same text sounds the same each time.
  const seed = book.seed ?? Number.parseInt(partKey({ text: book.text }).slice(0, 8), 16)
  const requests = texts.map((input, index) => ({
    input,
    stream: false as const,
    seed: partSeed(seed, index),
    ...(language !== undefined && { language }),
  }))
  const keys = requests.map((request) => partKey({ ...request, settings }))
  const known = await Promise.all(keys.map(kept.read))
  let done = known.filter((facts) => facts !== undefined).length
  if (done > 0 && done < texts.length) note(cli, `going on after ${done} of ${counted(texts.length, 'part')}`)
  const progress = openProgress(cli, done / texts.length)
  const parts: PlacedPart[] = []
  let refusal: AppError | undefined
  try {
    for (const [index, request] of requests.entries()) {
      const key = keys[index]!
      let facts = known[index]
      if (!facts) {
        progress.show(index / texts.length, `${index} of ${counted(texts.length, 'part')} spoken`)
        const answer = await speakPart(cli, request, book)
        if (answer instanceof AppError) refusal = answer
        else {
          await kept.write(key, answer.facts, answer.samples)
          facts = answer.facts
          done += 1
        }
      }
      parts.push({ text: texts[index]!, key, facts, pause: pauseBefore(parts, facts, book.speed) })
    }
    if (!parts.some(({ facts }) => facts))
      throw refusal ?? new AppError('unavailable', 'No part of the text could be spoken')
    return parts
  } catch (thrown) {
    progress.clear()
    throw withAdvice(cli, thrown, [done, texts.length], kept.folder)
  } finally {
    progress.clear()
  }
}

function partSeed(seed: number, index: number): number {
  return (seed + Math.imul(index, 0x27d4_eb2f)) >>> 0
}

/** The silence before a part, in bytes. Throws `unavailable` where another engine speaks than before. */
function pauseBefore(parts: readonly PlacedPart[], facts: PartFacts | undefined, speed = 1): number {
  const first = parts.find((part) => part.facts)?.facts
  if (!first || !facts) return 0
  if (first.engine !== facts.engine || first.sampleRate !== facts.sampleRate)
    throw new AppError(
      'unavailable',
      `The parts so far were spoken by the ${first.engine} engine, and now ${facts.engine || 'another one'} answers`,
      { details: ['use the same server and model again, or remove the folder of the parts'] },
    )
  return 2 * Math.round((pauseAfter(parts.at(-1)!.text) * facts.sampleRate) / speed)
}

/** Tries of a part at a server that is busy. */
const busyTries = 5

type SpokenPart = Awaited<ReturnType<typeof readPart>>

/** Speaks a part; returns the refusal of one that is mostly in a language or in letters that the engine cannot say. */
async function speakPart(cli: Cli, part: BookPart, book: SpokenBook): Promise<SpokenPart | AppError> {
  for (let tries = 1; ; tries++) {
    try {
      return await readPart(await book.ask(part))
    } catch (thrown) {
      if (thrown instanceof AppError && isMostlyUnspoken(thrown)) return thrown
      const wait = thrown instanceof AppError && thrown.code === 'busy' ? thrown.retryAfter : undefined
      if (wait === undefined || tries >= busyTries) throw thrown
      await setTimeout(Math.min(30, wait) * 1000, undefined, { signal: cli.signal() })
    }
  }
}

async function readPart(answer: Download) {
  const { samples, sampleRate } = await collectSamples(piecesOf(answer))
  const [spoken, total] = countsOf(answer)
  const engine = answer.headers['x-speech-engine'] ?? ''
  const skipped = [...skippedOf(answer)]
  return { facts: { engine, sampleRate, bytes: samples.length, spoken, total, skipped }, samples }
}

/** The counts of all parts; one without an answer is a chunk that was not spoken. */
function countsOfParts(parts: readonly PlacedPart[]): Omit<Spoken, 'seconds'> {
  const sum = (of: (facts: PartFacts) => number, other: number) =>
    parts.reduce((all, { facts }) => all + (facts ? of(facts) : other), 0)
  return {
    engine: parts.find(({ facts }) => facts)!.facts!.engine,
    spoken: sum(({ spoken }) => spoken, 0),
    total: sum(({ total }) => total, 1),
    skipped: parts.flatMap(({ facts, text }) => facts?.skipped ?? beginningOf(text)).slice(0, mostNames),
  }
}

function beginningOf(text: string): string {
  return [...text.replace(/\s+/g, ' ')].slice(0, 40).join('')
}

async function* samplesOf(parts: readonly PlacedPart[], kept: KeptParts): AsyncGenerator<Buffer> {
  for (const { key, facts, pause } of parts) {
    if (pause > 0) yield Buffer.alloc(pause)
    if (facts) yield* kept.samples(key)
  }
}

/** The failure with the way to go on; a Ctrl-C is reported as a remark. */
function withAdvice(cli: Cli, thrown: unknown, [done, all]: readonly [number, number], folder: string): unknown {
  const advice =
    done === 0
      ? `none of ${counted(all, 'part')} was finished, and nothing is kept`
      : `${done} of ${counted(all, 'part')} ${done === 1 ? 'is' : 'are'} kept in ${folder}; the same command goes on from there`
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
