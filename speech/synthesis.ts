import { AppError } from '../src/errors.ts'
import { createAudioBudget } from './audio-budget.ts'
import { startDeadline } from './deadline.ts'
import type { Delivery, SpeechEngine, VoiceHandle, VoiceSource } from './engines/engine.ts'
import { type FetchVoice, parseHubPath } from './hub-voice.ts'
import { createRequestQueue } from './queue.ts'
import { findVoice, type ServerManifest } from './servers/manifest.ts'
import { createSpeaking, isTimeout, type SpeakingLog, type Speech } from './speaking.ts'
import { newSpeechCount, type SpeechCount } from './speech-counts.ts'
import { createSpeechStats, type SpeechStats } from './stats.ts'
import { detectLanguage, findLanguage, languageNames } from './text/languages.ts'
import { sanitize } from './text/sanitize.ts'
import { countCharacters } from './text/sentences.ts'
import { type Divided, divideUnspoken, mostlyUnspokenText } from './text/unspoken.ts'

/** The longest text of one request, in characters. */
const textLimit = 10_000

export interface SynthesisOptions extends SpeakingLog {
  readonly manifest: ServerManifest
  readonly engine: SpeechEngine
  /** Finds the file of a voice that is a hub path. */
  readonly fetchVoice: FetchVoice
  /** How long one chunk may take once its turn has come, in milliseconds. */
  readonly chunkMs?: number | undefined
  /** Requests answered or waiting at the same time; more get `busy`. */
  readonly queueLimit?: number | undefined
  /** Counts for the metrics of a service. */
  readonly counts?: SpeechCount | undefined
  /** Bytes of audio that whole answers may hold together. */
  readonly budgetBytes?: number
}

/** A preset's name or alias, a hub path, or the source of a voice that is made for this text. */
export type RequestedVoice = string | Exclude<VoiceSource, { kind: 'preset' | 'file' }>

/** A text to speak, in the shape that it has from an operation's input on; without a voice the server's default speaks. */
export interface SpeechInput<Voice = RequestedVoice> extends Delivery {
  readonly input: string
  readonly voice?: Voice | undefined
  /** Whether the times of the words are wanted. */
  readonly timestamps?: boolean | undefined
  /** Whether stage directions such as `(laughs)` are read aloud. */
  readonly keep_directions?: boolean | undefined
}

export interface Synthesis {
  /**
   * Checks the request and prepares its voice. Throws `invalid` for the text or language, `not_found` for the voice,
   * `unavailable` for a language or a script the engine does not speak and for word times that it cannot tell, `busy` when
   * the queue is full.
   */
  open(input: SpeechInput, signal?: AbortSignal): Promise<Speech>
  /** The work so far: for health and metrics. */
  stats(): SpeechStats
}

/** Turns requests into speech with one engine. */
export function createSynthesis(options: SynthesisOptions): Synthesis {
  const { manifest, engine, queueLimit = 32, budgetBytes = 512 * 1024 * 1024 } = options
  const counts = options.counts ?? newSpeechCount()
  const turns = createRequestQueue(queueLimit, counts)
  const budget = createAudioBudget(budgetBytes)
  const stats = createSpeechStats()
  /** How long one chunk or voice may take: an engine that is slow here gets less text at a time, and says how long that takes. */
  const chunkMs = () => options.chunkMs ?? engine.capabilities.chunk?.milliseconds ?? 30_000

  const speaking = createSpeaking({ ...options, turns, budget, stats, counts, chunkMs })

  return {
    async open(input, signal) {
      const { text, directions } = readText(input)
      const leave = turns.enter()
      try {
        await engine.load(signal)
        if (input.timestamps) requireWordTimes(engine)
        const language = await languageOf(input.language, text, engine)
        checkLanguage(engine, language, input.language !== undefined)
        const divided = divideUnspoken(text, engine.capabilities.languages)
        await checkDivided(engine, divided)
        const voice = await prepare(input.voice ?? manifest.default_voice, signal)
        const { instruct, cfg_coef, seed, timestamps = false } = input
        const request = { text: divided.spoken, language, voice, instruct, cfg_coef, seed }
        return speaking(request, { unspoken: [...directions, ...divided.unspoken], timestamps, signal })
      } finally {
        leave()
      }
    },
    stats: stats.read,
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
    const { voiceSuffix = '' } = engine.capabilities
    const file = path.endsWith('.wav') ? path + voiceSuffix : path
    return { kind: 'file', path: await options.fetchVoice(file, signal) }
  }
}

/** Throws `unavailable` for an engine that cannot tell when words are heard. */
function requireWordTimes({ id, capabilities }: SpeechEngine): void {
  if (capabilities.wordTimes) return
  throw new AppError('unavailable', `The ${id} engine cannot tell when the words are heard`, {
    details: ['the built-in voice can, and the model of voxb-tts-1.6b: name that server or leave the timestamps out'],
  })
}

type SpeechText = Pick<SpeechInput, 'input' | 'keep_directions'>

/** The text as it will be spoken, and the stage directions left out. Throws `invalid` for one that is too long or empty. */
export function readText({ input: text, keep_directions: keepDirections }: SpeechText): {
  readonly text: string
  readonly directions: readonly string[]
} {
  const characters = countCharacters(text)
  if (characters > textLimit)
    throw new AppError('invalid', `The text is longer than ${textLimit.toLocaleString('en')} characters`, {
      details: [`it has ${characters.toLocaleString('en')}`],
    })
  const directions: string[] = []
  const clean = sanitize(text, { keepDirections, onDirection: (written) => directions.push(written) })
  if (clean === '')
    throw new AppError('invalid', 'The text is empty', {
      details: text.trim() === '' ? [] : ['nothing is left to speak without emoji, marks and stage directions'],
    })
  return { text: clean, directions }
}

/** Languages beyond those of the specification, with their codes: an engine that speaks one takes its name. */
const furtherLanguages: Readonly<Record<string, string>> = { nl: 'Dutch', nld: 'Dutch', dut: 'Dutch' }

async function languageOf(named: string | undefined, text: string, engine: SpeechEngine): Promise<string> {
  if (named === undefined || named.trim() === '' || /^auto(?:-?detect)?$/i.test(named.trim()))
    return await detectLanguage(text)
  const language = findLanguage(named) ?? furtherLanguage(named, engine)
  if (language) return language
  throw new AppError('invalid', `Invalid language "${named.slice(0, 40)}"`, {
    details: [`languages: ${languageNames.join(', ')}`],
  })
}

function furtherLanguage(named: string, { capabilities }: SpeechEngine): string | undefined {
  const wanted = named.trim().toLowerCase()
  const name = furtherLanguages[wanted.split(/[-_]/)[0]!] ?? wanted
  return capabilities.languages.find((language) => language.toLowerCase() === name.toLowerCase())
}

function checkLanguage({ id, capabilities }: SpeechEngine, language: string, named: boolean): void {
  if (capabilities.languages.includes(language)) return
  throw new AppError('unavailable', `The ${id} engine does not speak ${language}`, {
    details: [
      `it speaks ${capabilities.languages.join(', ')}`,
      ...(named
        ? []
        : ['if the text was taken for another, name its language: --language, or "language" in a request']),
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
  throw mostlyUnspokenText(id, [
    ...(isNamed ? [`the letters are those of ${language}`] : []),
    `it speaks ${capabilities.languages.join(', ')}`,
  ])
}

function countLetters(text: string): number {
  return text.match(/[\p{L}\p{N}]/gu)?.length ?? 0
}
