import { join } from 'node:path'
import type { ServiceOptions } from '../../speech/speech.ts'
import { readSecret, type Settings } from '../settings/settings.ts'

/** The folders, hub and lexicon of speech, by the settings. */
export function speechPlaces(
  settings: Settings,
): Pick<ServiceOptions, 'modelsFolder' | 'cacheFolder' | 'hubEndpoint' | 'hubToken' | 'codebooks' | 'lexicon'> {
  const { modelsFolder, hubEndpoint, environment, paths, codebooks, lexicon } = settings
  const cacheFolder = join(paths.cache, 'models')
  return {
    modelsFolder,
    cacheFolder,
    hubEndpoint,
    codebooks,
    lexicon,
    hubToken: readSecret('HF_TOKEN', environment)?.value,
  }
}
