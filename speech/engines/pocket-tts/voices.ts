/** The voices of one pocket-tts model: found by name, made from a clip, and cached. */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { AppError } from '../../../src/errors.ts'
import { resample } from '../../audio/resample.ts'
import { parseWav } from '../../audio/wav.ts'
import type { CacheRows } from '../../blocks/key-value-cache.ts'
import { cacheShape } from '../../blocks/transformer.ts'
import { readManifest } from '../../servers/manifest.ts'
import { keyOfSource, type VoiceSource } from '../engine.ts'
import { encodeClip, prefillVoice } from './generation.ts'
import type { PocketModel } from './model.ts'
import { companionFolders } from './model-folder.ts'
import { readVoiceFile } from './voice-file.ts'

export interface Voices {
  /**
   * The rows that begin every chunk in the voice of that key, kept from before or made now. Throws an AppError: `not_found` for a
   * preset that is not there, `invalid` for a clip or file that cannot be used, `unavailable` where the model cannot clone.
   */
  rowsOf(key: string, source: VoiceSource, signal?: AbortSignal): Promise<CacheRows>
}

/** About ten voices of the official size; an evicted one is made again when it is requested again. */
const voiceCacheBytes = 64 * 2 ** 20

/** The authors cut reference clips here: a longer one makes the voice no better and every chunk slower. */
const longestClipSeconds = 30

/** The voices of the model in `folder`; each is made at its first use. */
export function createVoices(model: PocketModel, folder: string): Voices {
  const ready = new Map<string, CacheRows>()

  return {
    async rowsOf(key, source, signal) {
      const rows = ready.get(key) ?? (await make(source, signal))
      // The most recently used goes to the end; the least recently used is evicted first.
      ready.delete(key)
      ready.set(key, rows)
      dropOldest()
      return rows
    },
  }

  function make(source: VoiceSource, signal?: AbortSignal): Promise<CacheRows> {
    if (source.kind === 'preset') return presetFile(folder, source.voice).then(fromFile)
    if (source.kind === 'clone') return fromClip(source.samples, source.sampleRate, signal)
    if (source.kind === 'file')
      return extname(source.path).toLowerCase() === '.wav' ? fromWav(source.path, signal) : fromFile(source.path)
    throw new AppError('unavailable', 'pocket-tts cannot make a voice from a description')
  }

  async function fromFile(path: string): Promise<CacheRows> {
    const voice = await readVoiceFile(path, cacheShape(model.languageModel))
    return voice.kind === 'cache' ? voice.cache : prefillVoice(model, model.openLanguageStream(), voice)
  }

  async function fromWav(path: string, signal?: AbortSignal): Promise<CacheRows> {
    const { samples, sampleRate } = parseWav(await readVoice(path))
    return fromClip(samples, sampleRate, signal)
  }

  async function fromClip(samples: Float32Array, sampleRate: number, signal?: AbortSignal): Promise<CacheRows> {
    requireEncoder(model, folder)
    if (samples.length === 0) throw new AppError('invalid', 'The reference clip is empty')
    if (!samples.every(Number.isFinite))
      throw new AppError('invalid', 'The reference clip holds numbers that are not finite')
    const cut = samples.subarray(0, Math.ceil(longestClipSeconds * sampleRate))
    const clip = resample(cut, sampleRate, model.configuration.sampleRate)
    const conditions = await encodeClip(model, clip, { signal })
    signal?.throwIfAborted()
    return prefillVoice(model, model.openLanguageStream(), conditions)
  }

  function dropOldest(): void {
    let bytes = [...ready.values()].reduce((sum, voice) => sum + sizeOf(voice), 0)
    for (const [key, voice] of ready) {
      if (bytes <= voiceCacheBytes || ready.size === 1) return
      ready.delete(key)
      bytes -= sizeOf(voice)
    }
  }
}

/** Equal sources have equal keys: a file is known by its content. */
export async function keyOf(source: VoiceSource): Promise<string> {
  if (source.kind !== 'file') return keyOfSource(source)
  return `file:${createHash('sha256')
    .update(await readVoice(source.path))
    .digest('hex')}`
}

/** The names of the voices that lie with a model, in order. */
export async function presetNames(folder: string): Promise<string[]> {
  const files = await Promise.all(presetFolders(folder).map(filesIn))
  const names = files.flat().filter((name) => name.endsWith('.safetensors'))
  return [...new Set(names.map((name) => basename(name, '.safetensors')))].sort()
}

function presetFolders(folder: string): string[] {
  return companionFolders(folder).map((place) => join(place, 'embeddings'))
}

function filesIn(place: string): Promise<string[]> {
  // A companion that was never installed has no files.
  return readdir(place).catch(() => [])
}

async function presetFile(folder: string, voice: string): Promise<string> {
  for (const place of presetFolders(folder)) {
    // Compared with the files there, so that no name can lead out of the folder.
    const name = (await filesIn(place)).find((file) => file.toLowerCase() === `${voice.toLowerCase()}.safetensors`)
    if (name) return join(place, name)
  }
  const names = await presetNames(folder)
  const known = names.length > 0 ? `it has: ${names.join(', ')}` : `${join(folder, 'embeddings')} holds no voices`
  throw new AppError('not_found', `Voice "${voice}" not found in the model`, {
    details: [known, ...licenceAdvice(voice)],
  })
}

/** A voice of the server's table can be missing because its licence was not agreed to. */
function licenceAdvice(voice: string): string[] {
  const licence = readManifest('voxb-tts').voices.find(({ id }) => id === voice.toLowerCase())?.licence
  if (!licence?.includes('-NC-')) return []
  return [`it is for non-commercial use only (${licence}): \`aichat models pull voxb-tts --non-commercial\` brings it`]
}

async function readVoice(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path)
  } catch (thrown) {
    throw new AppError('not_found', `The voice file ${path} cannot be read`, { cause: thrown })
  }
}

function requireEncoder({ cloning }: PocketModel, folder: string): void {
  if (cloning === 'ready') return
  const state = cloning === 'zeros' ? 'holds only zeros' : 'is missing'
  throw new AppError('unavailable', 'The installed pocket-tts model cannot clone voices', {
    details: [
      `its voice encoder ${state} in ${join(folder, 'model.safetensors')}, as in the open edition of the weights`,
      'for the edition that can: accept the terms of kyutai/pocket-tts on the model hub, set HF_TOKEN, and run `aichat models pull voxb-tts`',
    ],
  })
}

function sizeOf({ keys, values }: CacheRows): number {
  return [...keys, ...values].reduce((sum, array) => sum + array.byteLength, 0)
}
