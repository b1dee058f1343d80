import { availableParallelism } from 'node:os'
import { isRuntimePresent, runtimeAdvice } from '../src/inference/session.ts'
import type { EngineProcessOptions } from './engine-process.ts'
import { findPocketModels } from './engines/pocket-tts/model-folder.ts'
import type { ServerManifest, Variant } from './servers/manifest.ts'

/** The server, its options and its folders. */
export interface EngineRequest {
  readonly manifest: ServerManifest
  readonly variant: Variant
  /** `auto`, `cuda`, `mps` or `cpu`. */
  readonly device: string
  readonly modelsFolder: string
  /** Folder of the files that engines derive from a model at its first load. */
  readonly cacheFolder: string
}

export interface EngineChoice extends Pick<EngineProcessOptions, 'module' | 'options' | 'environment'> {
  /** The engine's id. */
  readonly id: string
  /** True when the server's own model speaks, false when another engine replaces it. */
  readonly own: boolean
  /** The device of the engine. */
  readonly device: string
  /** The reason why it is not the server's own model, or not the requested device. */
  readonly reason?: string
}

/** The best engine that is installed for a server. The built-in voice is always installed; it replaces a missing neural model. */
export function chooseEngine(request: EngineRequest): EngineChoice {
  const { manifest, device } = request
  const models = manifest.id === 'voxb-tts' ? findPocketModels(request.modelsFolder) : []
  if (models.length > 0 && isRuntimePresent()) return pocketChoice(models, request)
  const missing =
    models.length > 0
      ? `the neural model of ${manifest.id} is installed, but not the runtime that computes it: ${runtimeAdvice()}`
      : `no neural model of ${manifest.id} is installed`
  const reasons = [`${missing}; the built-in voice (flite) speaks English with matched voices`]
  if (device !== 'auto' && device !== 'cpu') reasons.push(`the built-in voice runs on the processor, not on ${device}`)
  return {
    id: 'embedded',
    module: 'flite',
    own: false,
    device: 'cpu',
    reason: reasons.join('; '),
  }
}

function pocketChoice(
  [main, ...others]: ReturnType<typeof findPocketModels>,
  { cacheFolder }: EngineRequest,
): EngineChoice {
  return {
    id: 'pocket-tts',
    module: 'pocket-tts',
    // A second core decodes the latents of the first.
    options: {
      folder: main!.folder,
      others,
      cacheFolder,
      device: 'cpu',
      decoder: availableParallelism() > 1 ? 'process' : 'here',
    },
    own: true,
    device: 'cpu',
  }
}
