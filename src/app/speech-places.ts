import { join } from 'node:path'
import type { ServiceOptions } from '../../speech/speech.ts'
import { readSecret, type Settings } from '../settings/settings.ts'

/** The folders and hub of speech models, by the settings. */
export function speechPlaces(
  settings: Settings,
): Pick<ServiceOptions, 'modelsFolder' | 'cacheFolder' | 'hubEndpoint' | 'hubToken' | 'codebooks'> {
  const { modelsFolder, hubEndpoint, environment, paths, codebooks } = settings
  const cacheFolder = join(paths.cache, 'models')
  return { modelsFolder, cacheFolder, hubEndpoint, codebooks, hubToken: readSecret('HF_TOKEN', environment)?.value }
}
