/**
 * Where the files of Kyutai TTS lie. The models folder mirrors the hub:
 *
 *     kyutai/tts-1.6b-en_fr/    config.json and the files that it names
 *     kyutai/tts-voices/        voices, by the path of their recording
 *     voxb-tts-1.6b/            the model's files, put there by hand; voices in its folder voices/
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { kyutaiRepository, voiceRepository } from './repositories.ts'

/** The folder of the installed model. */
export function findKyutaiModel(modelsFolder: string): string | undefined {
  return ['voxb-tts-1.6b', kyutaiRepository]
    .map((place) => join(modelsFolder, place))
    .find((folder) => existsSync(join(folder, 'config.json')))
}

/** The folders in which its voices are looked for, the nearest first. */
export function voiceFolders(modelsFolder: string, folder: string): string[] {
  return [join(folder, 'voices'), join(modelsFolder, voiceRepository)]
}
