import { AppError, toAppError } from '../src/errors.ts'
import { createSampleQueue, type SampleQueue } from './audio/sample-queue.ts'
import { toPcm16 } from './audio/wav.ts'
import { type AudioReservation, createAudioBudget } from './audio-budget.ts'
import { type Deadline, startDeadline } from './deadline.ts'
import type { Delivery, SpeechEngine, SpeechRequest, VoiceHandle, VoiceSource } from './engines/engine.ts'
import { type FetchVoice, parseHubPath } from './hub-voice.ts'
import { createRequestQueue } from './queue.ts'
import { findVoice, type ServerManifest } from './servers/manifest.ts'
import { detectLanguage, findLanguage, languageNames } from './text/languages.ts'
import { sanitize } from './text/sanitize.ts'
import { countCharacters, pauseAfter, splitChunks } from './text/sentences.ts'
import { type Divided, divideUnspoken } from './text/unspoken.ts'

/** The longest text of one request, in characters. */
const textLimit = 10_000

export interface SynthesisOptions {
  readonly manifest: ServerManifest
  readonly engine: SpeechEngine
  /** Finds the file of a voice that is a hub path. */
  readonly fetchVoice: FetchVoice
  /** How long one chunk may take once its turn has come, in milliseconds. */
  readonly chunkMs?: number | undefined
  /** Requests answered or waiting at the same time; more get `busy`. */
  readonly queueLimit?: number | undefined
  /** Bytes of audio that whole answers may hold together. */
  readonly budgetBytes?: number
  /** Called for every chunk that was skipped: for the log. */
  onSkip?(event: { readonly chunk: number; readonly total: number; readonly reason: string }): void
  /** Called with the number of pieces in letters or signs that the engine does not know: for the log. */
  onUnspoken?(event: { readonly pieces: number }): void
}

/** A preset's name or alias, a hub path, or the source of a voice that is made for this text. */
export type RequestedVoice = string | Exclude<VoiceSource, { kind: 'preset' | 'file' }>

/** A text to speak, in the shape that it has from an operation's input on; without a voice the server's default speaks. */
export interface SpeechInput<Voice = RequestedVoice> extends Delivery {
  readonly input: string
  readonly voice?: Voice | undefined
}

/** One text being spoken. */
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
  /**
   * Mono 16-bit PCM, made while it is read. `live` passes audio on as it comes; otherwise a chunk comes whole or, when it
   * fails, not at all. Chunks that fail are skipped; throws when none could be spoken: `timeout` if all took too long.
   */
  pcm(live: boolean): AsyncGenerator<Buffer>
}

export interface Synthesis {
  /**
   * Checks the request and prepares its voice. Throws `invalid` for the text or language, `not_found` for the voice,
   * `unavailable` for a language or a script the engine does not speak, `busy` when the queue is full.
   */
  open(input: SpeechInput, signal?: AbortSignal): Promise<Speech>
}

/** Turns requests into speech with one engine. */
export function createSynthesis(options: SynthesisOptions): Synthesis {
  const { manifest, engine, queueLimit = 32, budgetBytes = 512 * 1024 * 1024 } = options
  const turns = createRequestQueue(queueLimit)
  const budget = createAudioBudget(budgetBytes)
  /** How long one chunk or voice may take: an engine that is slow here gets less text at a time, and says how long that takes. */
  const chunkMs = () => options.chunkMs ?? engine.capabilities.chunk?.milliseconds ?? 30_000

  return {
    async open(input, signal) {
      const text = readText(input.input)
      const leave = turns.enter()
      try {
        await engine.load(signal)
        const language = await languageOf(input.language, text)
        checkLanguage(engine, language, input.language !== undefined)
        const divided = divideUnspoken(text, engine.capabilities.languages)
        await checkDivided(engine, divided)
        const voice = await prepare(input.voice ?? manifest.default_voice, signal)
        const { instruct, cfg_coef } = input
        return speechOf({ text: divided.spoken, language, voice, instruct, cfg_coef }, divided.unspoken, signal)
      } finally {
        leave()
      }
    },
  }

  async function prepare(voice: RequestedVoice, signal?: AbortSignal): Promise<VoiceHandle> {
    const source = typeof voice === 'string' ? await namedVoice(voice, signal) : voice
    const release = await turns.take(signal)
    const deadline = startDeadline(chunkMs(), signal)
    try {
      return await engine.prepareVoice(source, deadline.signal)
    } catch (thrown) {
      signal?.throwIfAborted()
      throw isTimeout(thrown) ? new AppError('timeout', 'The voice was not ready in time', { cause: thrown }) : thrown
    } finally {
      deadline.clear()
      release()
    }
  }

  async function namedVoice(name: string, signal?: AbortSignal): Promise<VoiceSource> {
    if (!manifest.options.hub_voices || !name.includes('/')) return { kind: 'preset', voice: findVoice(manifest, name) }
    const path = parseHubPath(name, manifest.options.voice_repository)
    return { kind: 'file', path: await options.fetchVoice(path, signal) }
  }

  function speechOf(request: SpeechRequest, unspoken: readonly string[], signal?: AbortSignal): Speech {
    const chunks = splitChunks(request.text, chunkLimit(engine, request.text))
    const total = chunks.length + unspoken.length
    let spoken = 0
    if (unspoken.length > 0) options.onUnspoken?.({ pieces: unspoken.length })
    return {
      place: budget.open(),
      engine: engine.id,
      sampleRate: engine.sampleRate,
      unspoken,
      total,
      get spoken() {
        return spoken
      },
      async *pcm(live) {
        const leave = turns.enter()
        const failures: unknown[] = []
        let pause = 0
        try {
          for (const [index, chunk] of chunks.entries()) {
            const queue = createSampleQueue()
            // Made at the engine's pace, read at the client's: a slow reader delays no other request.
            void make({ ...request, text: chunk }, queue, signal)
            try {
              let begun = false
              for await (const samples of live ? queue.pieces() : whole(queue)) {
                if (!begun && pause > 0) yield silence(pause)
                begun = true
                yield toPcm16(samples)
              }
              if (!begun) throw nothingSpoken()
              spoken += 1
              pause = pauseAfter(chunk)
            } catch (thrown) {
              signal?.throwIfAborted()
              failures.push(thrown)
              options.onSkip?.({ chunk: index + 1, total, reason: reasonOf(thrown) })
            }
          }
        } finally {
          leave()
        }
        if (spoken === 0) throw allFailed(failures)
      },
    }
  }

  function silence(seconds: number): Buffer {
    return Buffer.alloc(2 * Math.round(seconds * engine.sampleRate))
  }

  /** Speaks one chunk into the queue; its time begins when its turn comes. */
  async function make(request: SpeechRequest, queue: SampleQueue, signal?: AbortSignal): Promise<void> {
    let release = () => {}
    let deadline: Deadline | undefined
    try {
      release = await turns.take(signal)
      deadline = startDeadline(chunkMs(), signal)
      for await (const samples of engine.synthesize(request, deadline.signal)) queue.push(samples)
      queue.finish()
    } catch (thrown) {
      queue.finish(thrown instanceof Error ? thrown : new Error(String(thrown)))
    } finally {
      deadline?.clear()
      release()
    }
  }
}

/** The longest piece of this text for the engine, in characters; undefined where the servers' own limit holds. */
function chunkLimit({ capabilities }: SpeechEngine, text: string): number | undefined {
  if (!capabilities.chunk) return undefined
  // Such a sign takes as long to speak as three letters.
  const signs = text.match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/gu)?.length ?? 0
  const share = signs / Math.max(1, countCharacters(text))
  return Math.max(20, Math.floor(capabilities.chunk.characters / (1 + 2 * share)))
}

/** The text as it will be spoken. Throws `invalid` for one that is too long or empty. */
function readText(text: string): string {
  const characters = countCharacters(text)
  if (characters > textLimit)
    throw new AppError('invalid', `The text is longer than ${textLimit.toLocaleString('en')} characters`, {
      details: [`it has ${characters.toLocaleString('en')}`],
    })
  const clean = sanitize(text)
  if (clean === '')
    throw new AppError('invalid', 'The text is empty', {
      details: text.trim() === '' ? [] : ['nothing is left to speak without emoji, marks and stage directions'],
    })
  return clean
}

async function languageOf(named: string | undefined, text: string): Promise<string> {
  if (named === undefined || named.trim() === '' || /^auto(?:-?detect)?$/i.test(named.trim()))
    return await detectLanguage(text)
  const language = findLanguage(named)
  if (language) return language
  throw new AppError('invalid', `Invalid language "${named.slice(0, 40)}"`, {
    details: [`languages: ${languageNames.join(', ')}`],
  })
}

function checkLanguage({ id, capabilities }: SpeechEngine, language: string, named: boolean): void {
  if (capabilities.languages.includes(language)) return
  throw new AppError('unavailable', `The ${id} engine does not speak ${language}`, {
    details: [
      `it speaks ${capabilities.languages.join(', ')}`,
      ...(named ? [] : ['say which language it is if the text was taken for another']),
    ],
  })
}

/** Refuses a text that is mostly in letters unknown to the engine: the rest would make no sense. */
async function checkDivided({ id, capabilities }: SpeechEngine, { spoken, unspoken }: Divided): Promise<void> {
  const foreign = unspoken.join(' ')
  const known = countLetters(spoken)
  if (foreign === '' || (known > 0 && countLetters(foreign) <= known)) return
  const language = await detectLanguage(foreign)
  const isNamed = /\p{L}/u.test(foreign) && language !== 'English'
  throw new AppError('unavailable', `The ${id} engine cannot speak most of this text`, {
    details: [
      ...(isNamed ? [`the letters are those of ${language}`] : []),
      `it speaks ${capabilities.languages.join(', ')}`,
    ],
  })
}

function countLetters(text: string): number {
  return text.match(/[\p{L}\p{N}]/gu)?.length ?? 0
}

async function* whole(queue: SampleQueue): AsyncGenerator<Float32Array> {
  const pieces: Float32Array[] = []
  for await (const samples of queue.pieces()) pieces.push(samples)
  yield* pieces
}

function nothingSpoken(): AppError {
  return new AppError('unavailable', 'The engine found nothing that it can speak')
}

function isTimeout(thrown: unknown): boolean {
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
