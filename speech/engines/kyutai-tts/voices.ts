/** Voices by name: the files that were made for the model. */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../../src/errors.ts'
import { nonCommercialAdvice } from '../../servers/manifest.ts'
import type { SingleVoice } from '../engine.ts'
import { voiceSlots } from './conditions.ts'
import type { ModelFile } from './configuration.ts'
import type { VoiceEmbedding } from './memory.ts'
import { voiceFileName, voicePaths } from './repositories.ts'
import { readVoiceFile, voiceSuffix } from './voice-file.ts'

/**
 * The voice of a source. Throws an AppError: `not_found` for one that is not there, `invalid` for a file that does not fit the
 * model, `unavailable` for a voice that only another model makes.
 */
export async function findVoice(
  source: SingleVoice,
  model: ModelFile,
  folders: readonly string[],
): Promise<VoiceEmbedding> {
  if (source.kind === 'file') return readVoiceFile(source.path, model)
  if (source.kind === 'preset') return readVoiceFile(await presetFile(source.voice, model, folders), model)
  const what = source.kind === 'clone' ? 'clone voices' : 'make a voice from a description'
  throw new AppError('unavailable', `Kyutai TTS cannot ${what}`, {
    details: ['the network that makes its voices is not published'],
  })
}

async function presetFile(voice: string, model: ModelFile, folders: readonly string[]): Promise<string> {
  const id = voice.toLowerCase()
  const recording = Object.hasOwn(voicePaths, id) ? voicePaths[id]! : undefined
  if (recording === undefined)
    throw new AppError('not_found', `Voice "${voice.slice(0, 80)}" not found in the model`, {
      details: [`it has: ${Object.keys(voicePaths).join(', ')}`],
    })
  // Pulled with the model it has its own name, in a copy of the hub that of its recording.
  const names = [`${voiceFileName(id)}.safetensors`, recording + voiceSuffix(model)]
  for (const path of folders.flatMap((folder) => names.map((name) => join(folder, name))))
    if ((await stat(path).catch(() => undefined))?.isFile()) return path
  throw new AppError('not_found', `The file of voice ${id} is missing`, {
    details: [
      `it is ${names.join(' or ')} in ${folders.join(' or ')}`,
      nonCommercialAdvice('voxb-tts-1.6b', id) ?? '`aichat models pull voxb-tts-1.6b` brings it',
    ],
  })
}

/** Voices for one script, each in a slot of its own. Throws `invalid` where their lengths differ: the slots are equally long. */
export function joinVoices(voices: readonly VoiceEmbedding[]): VoiceEmbedding {
  const [{ frames }] = voices as readonly [VoiceEmbedding]
  const other = voices.find((voice) => voice.frames !== frames)
  if (other)
    throw new AppError('invalid', 'The voices of a script must be equally long', {
      details: [`one has ${frames} frames, another ${other.frames}`],
    })
  const data = voices.flatMap((voice) => voice.data)
  if (data.length > voiceSlots)
    throw new AppError('invalid', `A script has at most ${voiceSlots} voices`, {
      details: [`there are ${data.length}`],
    })
  return { key: voices.map(({ key }) => key).join(), frames, data }
}
