/** The interface of every speech engine: flite and the neural ones, behind the same servers. */
import { createHash } from 'node:crypto'

export interface Voice {
  /** The name as the specification spells it; clients may write it in any case. */
  readonly id: string
  readonly name: string
  /** The language it was made for, in English: "English", "Chinese"… */
  readonly language: string
  readonly licence?: string
  readonly aliases?: readonly string[]
}

/** A voice before an engine has prepared it. */
export type SingleVoice =
  | { readonly kind: 'preset'; readonly voice: string }
  /** A reference clip: mono samples in [-1, 1]. */
  | { readonly kind: 'clone'; readonly samples: Float32Array; readonly sampleRate: number; readonly text?: string }
  | { readonly kind: 'design'; readonly description: string }
  /** A voice file of a model hub, already on this machine. */
  | { readonly kind: 'file'; readonly path: string }

/** One voice, or those of a script that several speak, for an engine with `speakers`. */
export type VoiceSource = SingleVoice | { readonly kind: 'several'; readonly voices: readonly SingleVoice[] }

/** A prepared voice; opaque outside its engine. */
export interface VoiceHandle {
  /** Equal sources have equal keys; engines cache by it. */
  readonly key: string
}

/** Equal sources have equal keys. */
export function keyOfSource(source: VoiceSource): string {
  const hash = createHash('sha256').update(`${source.kind}\n`)
  if (source.kind === 'several') hash.update(source.voices.map(keyOfSource).join())
  else if (source.kind === 'preset') hash.update(source.voice.toLowerCase())
  else if (source.kind === 'design') hash.update(source.description)
  else if (source.kind === 'file') hash.update(source.path)
  else {
    const { buffer, byteOffset, byteLength } = source.samples
    hash.update(`${source.sampleRate}\n${source.text ?? ''}\n`).update(new Uint8Array(buffer, byteOffset, byteLength))
  }
  return hash.digest('hex')
}

export interface EngineCapabilities {
  /** English names of the languages that this engine speaks. */
  readonly languages: readonly string[]
  /** Seconds of speech that it makes in a second here, where it measured that. */
  readonly pace?: number
  /** How much text it takes at a time, where that is less than the servers' 500 characters. */
  readonly chunk?: ChunkLimits
  /** How it knows when each word is heard: from its own timing, or by a guess. Absent where it cannot tell at all. */
  readonly wordTimes?: 'measured' | 'estimated'
  /** Whether it takes the sounds of words, and another speed of a part of a text. */
  readonly phones?: boolean
  readonly rate?: boolean
  /** How many voices it keeps in mind in one script, where that is more than one. */
  readonly speakers?: number
  /** Appended to a recording's path on the hub to name its voice file, for an engine that takes those files alone. */
  readonly voiceSuffix?: string
}

/** One word of the text as it was written, with its marks, and when it is heard: seconds from the first sample of that text. */
export interface WordTime {
  readonly text: string
  readonly start: number
  readonly end: number
}

export interface ChunkLimits {
  /** Letters of an alphabet; a sign that is a syllable or word counts three of them. */
  readonly characters: number
  /** How long such a chunk may take. */
  readonly milliseconds: number
}

/** How a text is spoken: these fields pass unchanged from an operation's input to the engine. */
export interface Delivery {
  /** In a request a name or code, absent or `auto` where it is to be detected; for an engine the English name. */
  readonly language?: string | undefined
  /** Such as "slowly and sadly"; for the engines that can follow it. */
  readonly instruct?: string | undefined
  /** Guidance towards the voice, 0 to 10; for the engines that have it. */
  readonly cfg_coef?: number | undefined
  /** An equal text with an equal seed sounds equal; for the engines that choose at random. An integer from 0 to 2^32 - 1. */
  readonly seed?: number | undefined
}

export interface SpeechRequest extends Delivery {
  /** One chunk of text in words, at most 500 characters. */
  readonly text: string
  readonly voice: VoiceHandle
  /** Which of several voices speaks, from 0. For an engine with `speakers`. */
  readonly speaker?: number | undefined
  /** How fast: 1 is usual. For an engine with `rate`. */
  readonly rate?: number | undefined
  /** Sounds of words in ARPABET, by the word in small letters. For an engine with `phones`. */
  readonly phones?: Readonly<Record<string, string>> | undefined
  /** Called with the next words in order, before or among the samples; only for an engine with `wordTimes`. */
  readonly onWords?: ((words: readonly WordTime[]) => void) | undefined
}

/** Takes one call at a time: the host queues requests, so an engine needs no locks of its own. */
export interface SpeechEngine {
  /** The name in `/health` and `X-Speech-Engine`: `embedded`, `pocket-tts`… */
  readonly id: string
  /** Samples per second of the audio from `synthesize`. */
  readonly sampleRate: number
  readonly capabilities: EngineCapabilities
  /** Reads weights and builds sessions. Throws an AppError that names the invalid file. */
  load(signal?: AbortSignal): Promise<void>
  /** Throws an AppError `not_found` for a preset it does not have and `invalid` for a clip or file it cannot use. */
  prepareVoice(source: VoiceSource, signal?: AbortSignal): Promise<VoiceHandle>
  /** Mono samples in [-1, 1], in pieces as they are made. Stops soon after the signal is aborted. */
  synthesize(request: SpeechRequest, signal?: AbortSignal): AsyncIterable<Float32Array>
  close(): Promise<void>
}

/**
 * Exports of an engine's module: the server's child process imports it by its address and calls this once.
 * The options are plain data (they cross a process boundary); each engine parses its own and names the invalid ones.
 */
export interface EngineModule {
  createEngine(options: Readonly<Record<string, unknown>>): SpeechEngine | Promise<SpeechEngine>
}
