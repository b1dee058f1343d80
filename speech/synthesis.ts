import { AppError } from '../src/errors.ts'
import { createAudioBudget } from './audio-budget.ts'
import { startDeadline } from './deadline.ts'
import type { Delivery, SingleVoice, SpeechEngine, SpeechRequest, VoiceHandle, VoiceSource } from './engines/engine.ts'
import { type FetchVoice, parseHubPath } from './hub-voice.ts'
import { createRequestQueue } from './queue.ts'
import { findVoice, type ServerManifest } from './servers/manifest.ts'
import { createMeasuredPace, createSpeaking, isTimeout, type SpeakingLog, type Speech } from './speaking.ts'
import { newSpeechCount, type SpeechCount } from './speech-counts.ts'
import { detectLanguage, findLanguage, languageNames } from './text/languages.ts'
import type { Lexicon } from './text/reading/lexicon.ts'
import { type CleanText, cleanText, dividePassages, type Passage } from './text/reading/passages.ts'
import { readAloud } from './text/reading/reading.ts'
import { countCharacters } from './text/sentences.ts'
import { divideUnspoken, mostlyUnspokenText, otherLanguageText } from './text/unspoken.ts'

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
  readonly counts?: SpeechCount | undefined
  /** The pronunciations of the user, as they are now. */
  lexicon?(): Promise<Lexicon | undefined>
  /** Bytes of audio that whole answers may hold together. */
  readonly budgetBytes?: number
}

/** A preset's name or alias, a hub path, or the source of a voice that is made for this text. */
export type RequestedVoice = string | Exclude<SingleVoice, { kind: 'preset' | 'file' }>

/** A text to speak, in the shape that it has from an operation's input on; without a voice the server's default speaks. */
export interface SpeechInput<Voice = RequestedVoice> extends Delivery {
  readonly input: string
  readonly voice?: Voice | undefined
  /** In place of `voice`: the voices of a script, whose turns begin with `[S1]`, `[S2]`… in the text. Two to five. */
  readonly speakers?: readonly string[] | undefined
  /** Whether the times of the words are wanted. */
  readonly timestamps?: boolean | undefined
  /** How fast, at the same pitch: 0.25 to 4; 1 is usual. */
  readonly speed?: number | undefined
  /** Whether stage directions such as `(laughs)` are read aloud. */
  readonly keep_directions?: boolean | undefined
}

/** Turns requests into speech with one engine. */
export function createSynthesis(options: SynthesisOptions) {
  const { manifest, engine, queueLimit = 32, budgetBytes = 512 * 1024 * 1024 } = options
  const counts = options.counts ?? newSpeechCount()
  const turns = createRequestQueue(queueLimit, counts)
  const budget = createAudioBudget(budgetBytes)
  const pace = createMeasuredPace()
  /** How long one chunk or voice may take: an engine that is slow here gets less text at a time, and says how long that takes. */
  const chunkMs = () => options.chunkMs ?? engine.capabilities.chunk?.milliseconds ?? 30_000

  const speaking = createSpeaking({ ...options, turns, budget, pace, counts, chunkMs })

  return {
    /**
     * Checks the request and prepares its voice. Throws `invalid` for the text or language, `not_found` for the voice,
     * `unavailable` for a language or a script the engine does not speak and for word times that it cannot tell, `busy`
     * when the queue is full.
     */
    async open(input: SpeechInput, signal?: AbortSignal): Promise<Speech> {
      const { parts, leftOut } = readText(input)
      const leave = turns.enter()
      try {
        await engine.load(signal)
        if (input.timestamps) requireWordTimes(engine)
        const named = languageOf(input.language, engine)
        const { spoken, unspoken } = await chooseSpoken(engine, await dividePassages(parts, named), named !== undefined)
        const voices = await prepareVoices(input, signal)
        const lexicon = await options.lexicon?.()
        const texts = spoken.map((passage) => {
          const { text, words, phones } = readAloud(passage.text, passage.language, lexicon)
          return { ...passage, ...voices[passage.speaker ?? 0]!, text, words, phones: { ...phones, ...passage.phones } }
        })
        const { instruct, cfg_coef, seed, timestamps = false, speed = 1 } = input
        const request = { language: spoken[0]!.language, instruct, cfg_coef, seed }
        return speaking(request, texts, { unspoken: [...leftOut, ...unspoken], timestamps, speed, signal })
      } finally {
        leave()
      }
    },
    /** Seconds of speech that the engine made in a second of its latest work: for health. */
    pace: pace.read,
  }

  /** How each speaker speaks: an engine that keeps all of them in mind has one voice for all. */
  async function prepareVoices({ voice, speakers }: SpeechInput, signal?: AbortSignal) {
    const voices: Pick<SpeechRequest, 'voice' | 'speaker'>[] = []
    const sources: SingleVoice[] = []
    for (const named of speakers ?? [voice ?? manifest.default_voice])
      sources.push(typeof named === 'string' ? await namedVoice(named, signal) : named)
    if (sources.length > 1 && sources.length <= (engine.capabilities.speakers ?? 1)) {
      const several = await prepare({ kind: 'several', voices: sources }, signal)
      return sources.map((_, speaker) => ({ voice: several, speaker }))
    }
    for (const source of sources) voices.push({ voice: await prepare(source, signal), speaker: undefined })
    return voices
  }

  async function prepare(source: VoiceSource, signal?: AbortSignal): Promise<VoiceHandle> {
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

  async function namedVoice(name: string, signal?: AbortSignal): Promise<SingleVoice> {
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

type SpeechText = Pick<SpeechInput<unknown>, 'input' | 'keep_directions' | 'voice' | 'speakers'>

/** The text without markup, and what is left out. Throws `invalid` for an empty, too long or partly unspoken one. */
export function readText({ input: text, keep_directions: keepDirections, voice, speakers }: SpeechText): CleanText {
  const characters = countCharacters(text)
  if (characters > textLimit)
    throw new AppError('invalid', `The text is longer than ${textLimit.toLocaleString('en')} characters`, {
      details: [`it has ${characters.toLocaleString('en')}`],
    })
  if (speakers && voice !== undefined)
    throw new AppError('invalid', 'Either a voice or the speakers of a script can be named, not both')
  const clean = cleanText(text, { keepDirections, isScript: speakers !== undefined })
  const last = Math.max(0, ...clean.parts.map(({ speaker = 0 }) => speaker))
  if (speakers && last >= speakers.length)
    throw new AppError('invalid', `The text has a turn of [S${last + 1}], and ${speakers.length} speakers are named`)
  if (clean.parts.length === 0)
    throw new AppError('invalid', 'The text is empty', {
      details: text.trim() === '' ? [] : ['nothing is left to speak without emoji, marks and stage directions'],
    })
  return clean
}

/** Languages beyond those of the specification, with their codes: an engine that speaks one takes its name. */
const furtherLanguages: Readonly<Record<string, string>> = { nl: 'Dutch', nld: 'Dutch', dut: 'Dutch' }

/** The language that a request names; undefined where it is to be detected. */
function languageOf(named: string | undefined, engine: SpeechEngine): string | undefined {
  if (named === undefined || named.trim() === '' || /^auto(?:-?detect)?$/i.test(named.trim())) return undefined
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

/** The least share of a text that must be in a language of the engine: less is a passage taken for one, or makes no sense alone. */
const leastSpoken = 0.25
/** Letters by which a passage that is not spoken is named. */
const nameLength = 60

/**
 * The passages that the engine can speak, without letters unknown to it, and the names of all others. Throws `unavailable` where
 * the text is in another language, or mostly in unknown letters.
 */
async function chooseSpoken(engine: SpeechEngine, passages: readonly Passage[], isNamed: boolean) {
  const { languages } = engine.capabilities
  const own = passages.filter(({ language }) => languages.includes(language))
  const size = (some: readonly Passage[]) => some.reduce((sum, { text }) => sum + countLetters(text), 0)
  if (own.length === 0 || size(own) < leastSpoken * size(passages)) {
    const others = passages.filter((passage) => !own.includes(passage))
    const most = others.reduce((best, next) => (size([next]) > size([best]) ? next : best))
    throw otherLanguage(engine, most.language, isNamed)
  }
  const unspoken: string[] = []
  const foreign: string[] = []
  const spoken: Passage[] = []
  for (const passage of passages) {
    if (!own.includes(passage)) {
      unspoken.push(nameOf(passage))
      continue
    }
    const divided = divideUnspoken(passage.text, languages)
    foreign.push(...divided.unspoken)
    unspoken.push(...divided.unspoken)
    if (divided.spoken !== '') spoken.push({ ...passage, text: divided.spoken })
  }
  await checkLetters(engine, spoken.map(({ text }) => text).join(' '), foreign.join(' '))
  return { spoken, unspoken }
}

/** Such as `French, paragraph 3: La nuit tombait sur la ville…`. */
function nameOf({ language, paragraph, text }: Passage): string {
  const signs = [...text.replaceAll('\n', ' ')]
  return `${language}, paragraph ${paragraph}: ${signs.slice(0, nameLength).join('')}${signs.length > nameLength ? '…' : ''}`
}

function otherLanguage({ id, capabilities }: SpeechEngine, language: string, isNamed: boolean): AppError {
  return otherLanguageText(id, language, [
    `it speaks ${capabilities.languages.join(', ')}; for others: aichat help aichat-tts`,
    ...(isNamed
      ? []
      : ['if the text was taken for another, name its language: --language, or "language" in a request']),
  ])
}

/** Refuses a text that is mostly in letters unknown to the engine: the rest would make no sense. */
async function checkLetters({ id, capabilities }: SpeechEngine, spoken: string, foreign: string): Promise<void> {
  const known = countLetters(spoken)
  if (foreign === '' || (known > 0 && countLetters(foreign) <= known)) return
  const language = await detectLanguage(foreign)
  const hasName = /\p{L}/u.test(foreign) && language !== 'English'
  throw mostlyUnspokenText(id, [
    ...(hasName ? [`the letters are those of ${language}`] : []),
    `it speaks ${capabilities.languages.join(', ')}; for others: aichat help aichat-tts`,
  ])
}

function countLetters(text: string): number {
  return text.match(/[\p{L}\p{N}]/gu)?.length ?? 0
}
