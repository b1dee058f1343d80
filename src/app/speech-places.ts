import { join } from 'node:path'
import type { ServiceOptions } from '../../speech/service.ts'
import { readSecret, type Settings } from '../settings/settings.ts'

/** Where speech finds its models. */
export function speechPlaces(
  settings: Settings,
): Pick<ServiceOptions, 'modelsFolder' | 'cacheFolder' | 'hubEndpoint' | 'hubToken'> {
  const { modelsFolder, hubEndpoint, environment, paths } = settings
  const cacheFolder = join(paths.cache, 'models')
  return { modelsFolder, cacheFolder, hubEndpoint, hubToken: readSecret('HF_TOKEN', environment)?.value }
}
