import { join } from 'node:path'
import { AppError } from '../src/errors.ts'
import { counted } from '../src/formats/formats.ts'
import { parseWav } from './audio/wav.ts'
import { chooseEngine, installedLike } from './engine-choice.ts'
import { createEngineProcess } from './engine-process.ts'
import type { VoiceSource } from './engines/engine.ts'
import { createVoiceFetcher } from './hub-voice.ts'
import { findVariant, readManifest, type ServerId, type ServerManifest, type Variant } from './servers/manifest.ts'
import type { Speech } from './speaking.ts'
import type { SpeechCount } from './speech-counts.ts'
import { createSynthesis, type RequestedVoice, readText, type SpeechInput } from './synthesis.ts'
import { loadDetector } from './text/languages.ts'
import { createLexiconReader } from './text/reading/lexicon-file.ts'

export interface ServiceOptions {
  readonly server: ServerId
  /** The model's variant: `--model`. Without it the default one, or an installed one that does the same things. */
  readonly variant?: string | undefined
  /** Whether an installed variant that does the same things may speak for the named one. */
  readonly orLike?: boolean
  /** `--device`, on the server that has it. */
  readonly device?: string | undefined
  /** Codebooks of a frame, on the server with a model that can do with fewer: `--codebooks`. */
  readonly codebooks?: number | undefined
  readonly modelsFolder: string
  /** Holds files that engines derive from a model at its first load; `.cache` beside the models by default. */
  readonly cacheFolder?: string
  readonly hubEndpoint: string
  readonly hubToken?: string | undefined
  /** How long one chunk may take, in milliseconds. */
  readonly chunkMs?: number
  readonly queueLimit?: number
  /** A file of pronunciations, which is read for each text. */
  readonly lexicon?: string | undefined
  readonly counts?: SpeechCount
  /** Called for the log: skipped chunks, a lost engine. */
  onEvent?(message: string, fields: Readonly<Record<string, string | number>>): void
}

/** The voice of a WAV recording, with the text spoken in it where that is known. */
export interface RecordedVoice {
  readonly kind: 'recording'
  readonly wav: Uint8Array
  readonly text?: string | undefined
}

/** A preset, an alias or a hub path; a description, where the variant can design; a recording, where it can clone. */
export type ServiceInput = SpeechInput<string | Extract<VoiceSource, { kind: 'design' }> | RecordedVoice>

export interface Health {
  /** `healthy`, `loading` or `failed`. */
  readonly status: string
  /** True when the server's own model is loaded; false while another engine speaks for it. */
  readonly model_loaded: boolean
  readonly engine: string
  /** The variant. */
  readonly model: string
  readonly device: string
  /** Seconds of speech made in a second of the latest work, or as the engine measured it when it was loaded. */
  readonly pace?: number
  readonly reason?: string
}

/** One speech server without HTTP: a manifest, a variant, and the engine that speaks for it. */
export type SpeechService = ReturnType<typeof openSpeechService>

/** Opens a server's service; nothing is loaded before `load` or the first request. Throws `usage` for an unknown variant or device. */
export function openSpeechService(options: ServiceOptions) {
  const manifest = readManifest(options.server)
  const { modelsFolder, cacheFolder = join(modelsFolder, '.cache') } = options
  const named = findVariant(manifest, options.variant)
  const isOpen = options.variant === undefined || options.orLike
  const variant = isOpen ? installedLike(manifest, named, modelsFolder) : named
  const device = findDevice(manifest, options.device)
  const choice = chooseEngine({ manifest, variant, device, codebooks: options.codebooks, modelsFolder, cacheFolder })
  if (device !== 'auto' && device !== choice.device)
    options.onEvent?.('the engine runs on another device than asked for', {
      server: manifest.id,
      asked: device,
      device: choice.device,
      reason: choice.reason ?? '',
    })
  const engine = createEngineProcess({
    ...choice,
    onLoss: (reason) => options.onEvent?.('the speech engine ended', { server: manifest.id, reason }),
  })
  const synthesis = createSynthesis({
    manifest,
    engine,
    fetchVoice: createVoiceFetcher({ modelsFolder, endpoint: options.hubEndpoint, token: options.hubToken }),
    chunkMs: options.chunkMs,
    queueLimit: options.queueLimit,
    counts: options.counts,
    lexicon: createLexiconReader(options.lexicon),
    onSkip: (event) => options.onEvent?.('a chunk was skipped', { server: manifest.id, ...event }),
    onUnspoken: (event) => options.onEvent?.('parts of a text were not spoken', { server: manifest.id, ...event }),
  })
  let state: { readonly loaded: boolean; readonly failure?: string } = { loaded: false }

  return {
    manifest,
    variant,
    /** The engine's process that is running now, for measurements. */
    get pid(): number | undefined {
      return engine.pid
    },
    health(): Health {
      const pace = state.loaded ? (synthesis.pace() ?? engine.capabilities.pace) : undefined
      const slow =
        pace !== undefined && pace < 1 ? 'it makes speech slower than it is spoken here: stream the answers' : undefined
      const reason = state.failure ?? choice.reason ?? slow
      return {
        status: state.failure ? 'failed' : state.loaded ? 'healthy' : 'loading',
        model_loaded: state.loaded && choice.own,
        engine: choice.id,
        model: variant.id,
        device: choice.device,
        ...(pace === undefined ? {} : { pace: Math.round(pace * 100) / 100 }),
        ...(reason === undefined ? {} : { reason }),
      }
    },
    /** Loads the engine, and the language detector unless only health is asked; `health` shows a failure. */
    async load(what: 'all' | 'engine' = 'all') {
      await Promise.all([loadEngine(), what === 'all' && loadDetector()])
    },
    /**
     * Checks the request and prepares its voice. Throws `unavailable` where the variant cannot make such a voice,
     * `invalid` for an empty description or an unusable recording, and as `Synthesis.open` does.
     */
    async speak({ voice, ...request }: ServiceInput, signal?: AbortSignal): Promise<Speech> {
      const requested = typeof voice === 'object' ? sourceOf(voice) : voice || undefined
      // A substitute engine has the table's voices for every variant.
      if (typeof requested !== 'object' && choice.own && !variant.presets)
        throw needsVariant('A preset voice', ({ presets }) => presets)
      // Refused before an engine starts for it.
      readText({ ...request, voice: requested })
      await loadEngine()
      return synthesis.open({ ...request, voice: requested }, signal)
    },
    close: () => engine.close(),
  }

  async function loadEngine(): Promise<void> {
    try {
      await engine.load()
      state = { loaded: true }
    } catch (thrown) {
      state = { loaded: false, failure: thrown instanceof Error ? thrown.message : String(thrown) }
      throw thrown
    }
  }

  function sourceOf(voice: Exclude<ServiceInput['voice'], string | undefined>): Exclude<RequestedVoice, string> {
    if (voice.kind === 'design') {
      if (voice.description.trim() === '') throw new AppError('invalid', 'The description of the voice is empty')
      if (voice.description.length > 2000)
        throw new AppError('invalid', 'The description of the voice is longer than 2,000 characters')
      if (!variant.design) throw needsVariant('Voice design', ({ design }) => design)
      return voice
    }
    if (manifest.options.clone === 'never') throw needsVariant('Voice cloning', ({ clone }) => clone)
    const recording = parseWav(voice.wav)
    const seconds = recording.samples.length / recording.sampleRate
    const least = manifest.options.least_clip_seconds
    if (seconds < least)
      throw new AppError('invalid', `The clip is shorter than ${counted(least, 'second')}`, {
        details: [`it lasts ${seconds.toFixed(1)} s`],
      })
    if (!variant.clone) throw needsVariant('Voice cloning', ({ clone }) => clone)
    return { kind: 'clone', ...recording, ...(voice.text ? { text: voice.text } : {}) }
  }

  function needsVariant(feature: string, can: (variant: Variant) => boolean): AppError {
    const able = manifest.variants.filter(can).map(({ id }) => `aichat serve ${manifest.id} --model ${id}`)
    return new AppError('unavailable', `${feature} needs another model than ${variant.id}`, {
      details: able.length > 0 ? [`start the server with: ${able.join(', or ')}`] : [`${manifest.id} cannot do it`],
    })
  }
}

function findDevice(manifest: ServerManifest, device: string | undefined): string {
  const { devices } = manifest.options
  if (device === undefined) return 'auto'
  if (devices.includes(device)) return device
  throw new AppError('usage', `Invalid device "${device}" for ${manifest.id}`, {
    details: devices.length > 0 ? [`devices: ${devices.join(', ')}`] : ['it runs where its engine does'],
  })
}
