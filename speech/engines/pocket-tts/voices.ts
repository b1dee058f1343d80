/** The voices of one pocket-tts model: found by name, or made from a clip. */
import { readdir } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { AppError } from '../../../src/errors.ts'
import { resample } from '../../audio/resample.ts'
import { type Clip, parseWav } from '../../audio/wav.ts'
import type { CacheRows } from '../../blocks/key-value-cache.ts'
import { cacheShape } from '../../blocks/transformer.ts'
import { nonCommercialAdvice } from '../../servers/manifest.ts'
import type { SingleVoice } from '../engine.ts'
import { readVoice } from '../neural/engine.ts'
import { encodeClip, prefillVoice } from './generation.ts'
import type { PocketModel } from './model.ts'
import { companionFolders } from './model-folder.ts'
import { readVoiceFile } from './voice-file.ts'

/** The authors cut reference clips here: a longer one makes the voice no better and every chunk slower. */
const longestClipSeconds = 30

/**
 * The rows that begin every chunk in a voice, for the model in `folder`. Throws an AppError: `not_found` for a preset that is not
 * there, `invalid` for a clip or file that cannot be used, `unavailable` where the model cannot clone.
 */
export async function makeVoice(
  model: PocketModel,
  folder: string,
  source: SingleVoice,
  signal?: AbortSignal,
): Promise<CacheRows> {
  if (source.kind === 'preset') return fromFile(await presetFile(folder, source.voice))
  if (source.kind === 'clone') return fromClip(source)
  if (source.kind === 'design') throw new AppError('unavailable', 'pocket-tts cannot make a voice from a description')
  const isRecording = extname(source.path).toLowerCase() === '.wav'
  return isRecording ? fromClip(parseWav(await readVoice(source.path))) : fromFile(source.path)

  async function fromFile(path: string): Promise<CacheRows> {
    const voice = await readVoiceFile(path, cacheShape(model.languageModel))
    return voice.kind === 'cache' ? voice.cache : prefillVoice(model, model.openLanguageStream(), voice)
  }

  async function fromClip({ samples, sampleRate }: Clip): Promise<CacheRows> {
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
    details: [known, nonCommercialAdvice('voxb-tts', voice) ?? []].flat(),
  })
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
