import { availableParallelism } from 'node:os'
import { isRuntimePresent, runtimeAdvice } from '../src/inference/inference.ts'
import type { EngineProcessOptions } from './engine-process.ts'
import { findKyutaiModel, voiceFolders } from './engines/kyutai-tts/model-folder.ts'
import { findPocketModels } from './engines/pocket-tts/model-folder.ts'
import { findQwenModel, installedVariants } from './engines/qwen3-tts/model-folder.ts'
import type { ServerManifest, Variant } from './servers/manifest.ts'

/** The server, its options and its folders. */
export interface EngineRequest {
  readonly manifest: ServerManifest
  readonly variant: Variant
  /** `auto`, `cuda`, `mps` or `cpu`. */
  readonly device: string
  /** Codebooks of a frame, for the engine that can do with fewer than its model has. */
  readonly codebooks?: number | undefined
  readonly modelsFolder: string
  /** Folder of the files that engines derive from a model at its first load. */
  readonly cacheFolder: string
}

export interface EngineChoice extends Pick<EngineProcessOptions, 'module' | 'options' | 'environment' | 'openMs'> {
  readonly id: string
  /** True when the server's own model speaks, false when another engine replaces it. */
  readonly own: boolean
  readonly device: string
  /** The reason why it is not the server's own model, or not the requested device. */
  readonly reason?: string
}

/** A server's own model: its engine's options where it is installed. */
type FindModel = (request: EngineRequest) => Readonly<Record<string, unknown>> | undefined

interface NeuralEngine {
  readonly id: string
  /** How long loading may take: at the first one gigabytes of weights are quantised. */
  readonly openMs?: number
  readonly find: FindModel
}

/** The neural engine that computes each server's model; its name is the engine's folder and id. */
const neuralEngines: Readonly<Partial<Record<string, NeuralEngine>>> = {
  'voxa-tts': { id: 'qwen3-tts', openMs: 1_800_000, find: findQwen },
  'voxb-tts': { id: 'pocket-tts', find: findPocket },
  'voxb-tts-1.6b': { id: 'kyutai-tts', openMs: 1_800_000, find: findKyutai },
}

/** The best engine that is installed for a server. The built-in voice is always installed; it replaces a missing neural model. */
export function chooseEngine(request: EngineRequest): EngineChoice {
  const { manifest } = request
  const neural = neuralEngines[manifest.id]
  const options = neural?.find(request)
  if (!options) return embeddedChoice(request, missingModel(request))
  if (!isRuntimePresent())
    return embeddedChoice(
      request,
      `the neural model of ${manifest.id} is installed, but not the runtime that computes it: ${runtimeAdvice()}`,
    )
  const { id, openMs } = neural!
  const { device } = request
  const isElsewhere = device !== 'auto' && device !== 'cpu'
  return {
    id,
    module: id,
    options,
    own: true,
    device: 'cpu',
    ...(openMs && { openMs }),
    ...(isElsewhere && { reason: `the neural runtime here has no ${device}: the model runs on the processor` }),
  }
}

/** The variant itself where it is installed, else an installed one that does the same things, else itself. */
export function installedLike(manifest: ServerManifest, variant: Variant, modelsFolder: string): Variant {
  const installed = variantsOf(manifest, modelsFolder)
  if (installed.includes(variant.id)) return variant
  const alike = ({ presets, design, clone }: Variant) => `${presets} ${design} ${clone}`
  return manifest.variants.find((other) => installed.includes(other.id) && alike(other) === alike(variant)) ?? variant
}

function embeddedChoice({ device }: EngineRequest, missing: string): EngineChoice {
  const reasons = [`${missing}; the built-in voice (flite) speaks English with matched voices`]
  if (device !== 'auto' && device !== 'cpu') reasons.push(`the built-in voice runs on the processor, not on ${device}`)
  return { id: 'embedded', module: 'flite', own: false, device: 'cpu', reason: reasons.join('; ') }
}

/** A second core decodes the frames of the first. */
const decoder = availableParallelism() > 1 ? 'process' : 'here'

/** One core decodes; of the others two read large matrices faster than one, and more are no faster. */
const threads = Math.max(1, Math.min(2, availableParallelism() - 1))

function findKyutai({ modelsFolder, cacheFolder, codebooks }: EngineRequest): ReturnType<FindModel> {
  const folder = findKyutaiModel(modelsFolder)
  if (!folder) return undefined
  const voices = voiceFolders(modelsFolder, folder)
  return { folder, cacheFolder, voices, decoder, threads, ...(codebooks && { codebooks }) }
}

function findPocket({ modelsFolder, cacheFolder }: EngineRequest): ReturnType<FindModel> {
  const [main, ...others] = findPocketModels(modelsFolder)
  return main && { folder: main.folder, others, cacheFolder, decoder }
}

function findQwen({ variant, modelsFolder, cacheFolder }: EngineRequest): ReturnType<FindModel> {
  const folder = findQwenModel(modelsFolder, variant.id)
  return folder === undefined ? undefined : { folder, cacheFolder, decoder, threads }
}

/** The installed variants of a server that has several models. */
function variantsOf({ id }: ServerManifest, modelsFolder: string): readonly string[] {
  return id === 'voxa-tts' ? installedVariants(modelsFolder) : []
}

function missingModel({ manifest, variant, modelsFolder }: EngineRequest): string {
  const others = variantsOf(manifest, modelsFolder)
  if (others.length === 0) return `no neural model of ${manifest.id} is installed`
  return `the neural model ${variant.id} of ${manifest.id} is not installed, only ${others.join(', ')}`
}
