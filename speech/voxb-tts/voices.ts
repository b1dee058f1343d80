/** The voices of one pocket-tts model: found by name, made from a clip, and kept ready while there is room. */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { AppError } from '../../src/errors.ts'
import type { VoiceHandle, VoiceSource } from '../engine.ts'
import type { CacheRows } from '../onnx/key-value-cache.ts'
import { encodeClip, prefillVoice } from './generation.ts'
import type { PocketModel } from './model.ts'
import { resampleClip } from './resampling.ts'
import { cacheShape } from './transformer.ts'
import { readVoiceFile } from './voice-file.ts'

export interface Voices {
  /** Makes a voice ready; throws an AppError: `not_found`, `invalid` or, where the model cannot clone, `unavailable`. */
  prepare(source: VoiceSource, signal?: AbortSignal): Promise<VoiceHandle>
  /** The rows that begin every chunk in this voice. */
  rowsOf(voice: VoiceHandle): CacheRows
}

/** About ten voices of the official size; more are made again when they are asked for again. */
const roomForVoices = 64 * 2 ** 20

/** The authors cut reference clips here: a longer one makes the voice no better and every chunk slower. */
const longestClipSeconds = 30

export function createVoices(model: PocketModel, folder: string): Voices {
  const ready = new Map<string, CacheRows>()
  const rows = new WeakMap<VoiceHandle, CacheRows>()

  return {
    async prepare(source, signal) {
      const { key, make } = await plan(source, signal)
      const known = ready.get(key) ?? (await make())
      // What was asked for last goes to the end; what was not asked for the longest time leaves first.
      ready.delete(key)
      ready.set(key, known)
      dropOldest()
      const handle: VoiceHandle = { key }
      rows.set(handle, known)
      return handle
    },
    rowsOf(voice) {
      const known = rows.get(voice) ?? ready.get(voice.key)
      if (!known) throw new AppError('not_found', `The voice ${voice.key} was not prepared by this engine`)
      return known
    },
  }

  async function plan(source: VoiceSource, signal?: AbortSignal): Promise<{ key: string; make(): Promise<CacheRows> }> {
    if (source.kind === 'preset') {
      const path = await presetFile(folder, source.voice)
      return { key: `preset:${basename(path, '.safetensors')}`, make: () => fromFile(path) }
    }
    if (source.kind === 'file')
      return { key: `file:${digest(await readVoice(source.path))}`, make: () => fromFile(source.path) }
    if (source.kind === 'clone') {
      requireEncoder(model, folder)
      const { samples, sampleRate } = source
      const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)
      return { key: `clone:${sampleRate}:${digest(bytes)}`, make: () => fromClip(samples, sampleRate, signal) }
    }
    throw new AppError('unavailable', 'pocket-tts cannot make a voice from a description')
  }

  async function fromFile(path: string): Promise<CacheRows> {
    const voice = await readVoiceFile(path, cacheShape(model.languageModel))
    return voice.kind === 'cache' ? voice.cache : prefillVoice(model, model.openLanguageStream(), voice)
  }

  async function fromClip(samples: Float32Array, sampleRate: number, signal?: AbortSignal): Promise<CacheRows> {
    if (samples.length === 0) throw new AppError('invalid', 'The reference clip is empty')
    if (!samples.every(Number.isFinite))
      throw new AppError('invalid', 'The reference clip holds numbers that are not finite')
    const cut = samples.subarray(0, Math.ceil(longestClipSeconds * sampleRate))
    const clip = resampleClip(cut, sampleRate, model.configuration.sampleRate)
    const conditions = await encodeClip(model, clip, { signal })
    signal?.throwIfAborted()
    return prefillVoice(model, model.openLanguageStream(), conditions)
  }

  function dropOldest(): void {
    let bytes = [...ready.values()].reduce((sum, voice) => sum + sizeOf(voice), 0)
    for (const [key, voice] of ready) {
      if (bytes <= roomForVoices || ready.size === 1) return
      ready.delete(key)
      bytes -= sizeOf(voice)
    }
  }
}

/** The names of the voices that lie with a model, in order. */
export async function presetNames(folder: string): Promise<string[]> {
  const files = await Promise.all(presetFolders(folder).map((place) => readdir(place).catch(() => [])))
  const names = files.flat().filter((name) => name.endsWith('.safetensors'))
  return [...new Set(names.map((name) => basename(name, '.safetensors')))].sort()
}

/** The official tree keeps them beside the weights; those of its oldest model lie at the root. */
function presetFolders(folder: string): string[] {
  return [join(folder, 'embeddings'), join(dirname(dirname(folder)), 'embeddings')]
}

async function presetFile(folder: string, voice: string): Promise<string> {
  for (const place of presetFolders(folder)) {
    const files: string[] = await readdir(place).catch(() => [])
    // Compared with what is there, so that no name can lead out of the folder.
    const name = files.find((file) => file.toLowerCase() === `${voice.toLowerCase()}.safetensors`)
    if (name) return join(place, name)
  }
  const names = await presetNames(folder)
  const known = names.length > 0 ? `it has: ${names.join(', ')}` : `${join(folder, 'embeddings')} holds no voices`
  throw new AppError('not_found', `The model has no voice "${voice}"`, { details: [known] })
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
      `its voice encoder ${state} in ${join(folder, 'model.safetensors')}: that is the open edition of the weights`,
      'accept the terms of kyutai/pocket-tts on the model hub, set HF_TOKEN, and pull the model again',
    ],
  })
}

function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function sizeOf({ keys, values }: CacheRows): number {
  return [...keys, ...values].reduce((sum, array) => sum + array.byteLength, 0)
}
