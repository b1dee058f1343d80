import { AppError, toAppError } from '../src/errors.ts'
import { createQueue, type SampleQueue } from './audio/sample-queue.ts'
import { changeSpeed } from './audio/speed.ts'
import type { AudioBudget, AudioReservation } from './audio-budget.ts'
import { type Deadline, startDeadline } from './deadline.ts'
import type { SpeechEngine, SpeechRequest, WordTime } from './engines/engine.ts'
import type { RequestQueue } from './queue.ts'
import type { SpeechCount } from './speech-counts.ts'
import { createTelling } from './telling.ts'
import type { WrittenWord } from './text/reading/reading.ts'
import { createWrittenWords } from './text/reading/written-words.ts'
import { countCharacters, pauseAfter, splitChunks } from './text/sentences.ts'

export interface Speech {
  /** Counts audio that is kept until all of it is made. */
  readonly place: AudioReservation
  /** The engine's id, as in `X-Speech-Engine`. */
  readonly engine: string
  readonly sampleRate: number
  /** The pieces of the text in letters or signs that the engine cannot say, as they were written. */
  readonly unspoken: readonly string[]
  /** How many chunks and unspoken pieces the text has, and how many of them have been spoken so far. */
  readonly total: number
  readonly spoken: number
  /** How the engine knows the words' times; undefined where they are not wanted. */
  readonly wordTimes: 'measured' | 'estimated' | undefined
  /** The words that were spoken since the last call, with their times in seconds from the first sample of all. */
  takeWords(): readonly WordTime[]
  /**
   * Mono 16-bit PCM, made as it is read. `live` passes audio on as it comes; otherwise a chunk comes whole, or not at all
   * when it fails. Failed chunks are skipped; throws when none could be spoken: `timeout` if all took too long.
   */
  pcm(live: boolean): AsyncGenerator<Buffer>
}

/** Seconds of work that the pace is measured over. */
const measuredSeconds = 60

type MeasuredPace = ReturnType<typeof createMeasuredPace>

/** Measures by its chunks how fast an engine makes speech. */
export function createMeasuredPace() {
  let speech = 0
  let work = 0
  return {
    /** Counts a chunk of so many seconds that took so many of work. */
    spoke(seconds: number, workSeconds: number) {
      // Older work counts less and less.
      const kept = Math.max(0, 1 - workSeconds / measuredSeconds)
      speech = kept * speech + seconds
      work = kept * work + workSeconds
    },
    /** Seconds of speech that it made in a second of the latest work; undefined before its first chunk. */
    read: () => (work > 0 ? speech / work : undefined),
  }
}

/** For the log. */
export interface SpeakingLog {
  onSkip?(event: { readonly chunk: number; readonly total: number; readonly reason: string }): void
  /** Called with the number of pieces in letters or signs that the engine does not know. */
  onUnspoken?(event: { readonly pieces: number }): void
}

export interface SpeakingParts extends SpeakingLog {
  readonly engine: SpeechEngine
  readonly turns: RequestQueue
  readonly budget: AudioBudget
  readonly pace: MeasuredPace
  readonly counts: SpeechCount
  /** How long one chunk may take once its turn has come, in milliseconds. */
  chunkMs(): number
}

export interface SpeakingDetails {
  /** The pieces of the text that are left out. */
  readonly unspoken: readonly string[]
  /** Whether the times of the words are wanted. */
  readonly timestamps: boolean
  /** How fast the speech is made to be, at the same pitch: 1 is the engine's own. */
  readonly speed: number
  readonly signal: AbortSignal | undefined
}

/** A part of a text in one language, as it is read aloud. */
export interface SpokenPart extends Pick<SpeechRequest, 'text' | 'language' | 'voice' | 'speaker' | 'rate' | 'phones'> {
  readonly words: readonly WrittenWord[]
  /** Silence behind it in seconds, in place of the usual one. */
  readonly pause?: number | undefined
}

/** A piece that the engine speaks in one go. */
interface Chunk extends SpokenPart {
  readonly pause: number
}

/** Speaks whole texts chunk by chunk with one engine; a text is made while its audio is read. */
export function createSpeaking(
  parts: SpeakingParts,
): (request: Omit<SpeechRequest, 'text' | 'voice'>, texts: readonly SpokenPart[], details: SpeakingDetails) => Speech {
  const { engine, turns, budget, pace, counts } = parts
  return speak

  function speak(
    request: Omit<SpeechRequest, 'text' | 'voice'>,
    texts: readonly SpokenPart[],
    { unspoken, timestamps, speed, signal }: SpeakingDetails,
  ): Speech {
    const chunks = texts.flatMap(chunksOf)
    const total = chunks.length + unspoken.length
    let spoken = 0
    const telling = createTelling(engine.sampleRate)
    if (unspoken.length > 0) parts.onUnspoken?.({ pieces: unspoken.length })

    /** Starts a chunk. Made at the engine's pace, read at the client's: a slow reader delays no other request. */
    function begin(index: number) {
      const queue = createQueue<Float32Array>()
      const told: WordTime[] = []
      const { words, pause: _, ...chunk } = chunks[index]!
      const scaled = ({ text, start, end }: WordTime) => ({ text, start: start / speed, end: end / speed })
      const onWords = timestamps ? createWrittenWords(words, (more) => void told.push(...more.map(scaled))) : undefined
      void make({ ...request, ...chunk, onWords, seed: seedOf(request.seed, index) }, queue, signal)
      return { pieces: changeSpeed(queue.pieces(), engine.sampleRate, speed), told }
    }

    return {
      place: budget.open(),
      engine: engine.id,
      sampleRate: engine.sampleRate,
      unspoken,
      total,
      get spoken() {
        return spoken
      },
      wordTimes: timestamps ? engine.capabilities.wordTimes : undefined,
      takeWords: telling.takeWords,
      async *pcm(live) {
        const leave = turns.enter()
        const failures: unknown[] = []
        try {
          for (const [index, { pause }] of chunks.entries()) {
            try {
              const { pieces, told } = begin(index)
              const seconds = yield* telling.tell(pause / speed, live ? pieces : await collect(pieces), told)
              if (seconds === 0) throw nothingSpoken()
              spoken += 1
              counts.spoken++
            } catch (thrown) {
              signal?.throwIfAborted()
              failures.push(thrown)
              counts.skipped++
              parts.onSkip?.({ chunk: index + 1, total, reason: reasonOf(thrown) })
            }
          }
        } finally {
          leave()
        }
        if (spoken === 0) throw allFailed(failures)
      },
    }
  }

  /** Chunks of a part, each with the words that it has of it. */
  function chunksOf({ words, pause, rate, phones, ...part }: SpokenPart): Chunk[] {
    const { capabilities } = engine
    const texts = splitChunks(part.text, chunkLimit(engine, part.text))
    let next = 0
    return texts.map((text, index) => {
      const own: WrittenWord[] = []
      // A word that is cut belongs to the chunk in which it begins.
      for (let left = text.split(/\s+/).length; left > 0 && next < words.length; next++) {
        own.push(words[next]!)
        left -= words[next]!.spoken
      }
      return {
        ...{
          ...part,
          text,
          words: own,
          pause: index === texts.length - 1 && pause !== undefined ? pause : pauseAfter(text),
        },
        ...(capabilities.rate && rate !== undefined && { rate }),
        ...(capabilities.phones && phones && Object.keys(phones).length > 0 && { phones }),
      }
    })
  }

  /** Speaks one chunk into the queue; its time begins when its turn comes. */
  async function make(request: SpeechRequest, queue: SampleQueue, signal?: AbortSignal): Promise<void> {
    let release = () => {}
    let deadline: Deadline | undefined
    try {
      release = await turns.take(signal)
      deadline = startDeadline(parts.chunkMs(), signal)
      const started = performance.now()
      let samplesMade = 0
      for await (const samples of engine.synthesize(request, deadline.signal)) {
        samplesMade += samples.length
        queue.push(samples)
      }
      const seconds = (performance.now() - started) / 1000
      counts.chunks.add(seconds)
      pace.spoke(samplesMade / engine.sampleRate, seconds)
      queue.finish()
    } catch (thrown) {
      queue.finish(thrown instanceof Error ? thrown : new Error(String(thrown)))
    } finally {
      deadline?.clear()
      release()
    }
  }
}

async function collect<T>(pieces: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = []
  for await (const piece of pieces) all.push(piece)
  return all
}

/** The seed of a chunk: another for each, and the same in each answer to an equal request. */
function seedOf(seed: number | undefined, chunk: number): number | undefined {
  return seed === undefined ? undefined : (seed + Math.imul(chunk, 0x9e37_79b9)) >>> 0
}

/** The longest piece of this text for the engine, in characters; undefined where the servers' own limit holds. */
function chunkLimit({ capabilities }: SpeechEngine, text: string): number | undefined {
  if (!capabilities.chunk) return undefined
  // Such a sign takes as long to speak as three letters.
  const signs = text.match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/gu)?.length ?? 0
  const share = signs / Math.max(1, countCharacters(text))
  return Math.max(20, Math.floor(capabilities.chunk.characters / (1 + 2 * share)))
}

function nothingSpoken(): AppError {
  return new AppError('unavailable', 'The engine found nothing that it can speak')
}

/** Whether a deadline has passed. */
export function isTimeout(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'TimeoutError'
}

function reasonOf(thrown: unknown): string {
  if (isTimeout(thrown)) return 'took too long'
  const { message, cause } = thrown instanceof Error ? thrown : new Error(String(thrown))
  return cause instanceof Error ? `${message}: ${cause.message}` : message
}

function allFailed(failures: readonly unknown[]): AppError {
  if (failures.every(isTimeout))
    return new AppError('timeout', 'The speech engine did not answer in time', { details: ['send a shorter text'] })
  const first = toAppError(failures.find((failure) => !isTimeout(failure)))
  return new AppError(first.code, first.code === 'internal' ? 'The speech engine failed' : first.message, {
    details: first.details,
    cause: first,
  })
}
