/** A Kyutai TTS model made ready: its files checked and opened, its graphs built and loaded. `generation.ts` speaks with it. */
import { join } from 'node:path'
import { AppError } from '../../../src/errors.ts'
import {
  floats,
  type GraphOptions,
  openSession,
  openTensorFile,
  type QuantisationPlan,
  requireFinite,
  type Session,
  weightsFolder,
} from '../../../src/inference/inference.ts'
import { createRotaryTable } from '../../blocks/positions.ts'
import { createStream } from '../../blocks/state-stream.ts'
import { cacheShape } from '../../blocks/transformer.ts'
import { openCodec } from '../neural/codec.ts'
import type { ModelOptions } from '../neural/engine.ts'
import { type ModelOpening, openModel } from '../neural/model-opening.ts'
import { openTokenizer } from '../neural/tokenizer.ts'
import { codecOf, openCodecFile } from './codec.ts'
import { readConditions } from './conditions.ts'
import { type KyutaiConfiguration, readConfiguration } from './configuration.ts'
import { checkModelFile, readCodecGeometry } from './geometry.ts'
import { buildBackbone, buildDepth, buildHead, buildMemory } from './graphs.ts'
import { backboneShape, depthShape } from './layers.ts'
import { createVoiceMemory } from './memory.ts'
import { openTables } from './tables.ts'
import { dividedFile, languageFile } from './tensors.ts'

export interface KyutaiModelOptions extends ModelOptions, GraphOptions {
  /** Codebooks of a frame; fewer take less time and sound coarser. Default: all that the model makes. */
  readonly codebooks?: number | undefined
}

export type KyutaiModel = Awaited<ReturnType<typeof openFrom>>

export type LanguageStreams = ReturnType<KyutaiModel['openStreams']>

/** Opens the model in a folder; throws as `openModel`. */
export function openKyutaiModel(options: KyutaiModelOptions, signal?: AbortSignal): Promise<KyutaiModel> {
  return openModel((opening) => openFrom(opening, options), signal)
}

async function openFrom(opening: ModelOpening, options: KyutaiModelOptions) {
  const { folder, threads = 1 } = options
  const { keep } = opening
  const configuration = await readConfiguration(folder)
  const { model, schedule, sets } = configuration
  const codebooks = chosenCodebooks(configuration, options.codebooks)
  const file = keep(languageFile(await openTensorFile(join(folder, model.moshi_name))))
  checkModelFile(file, configuration)
  const codec = keep(await openCodecFile(folder, configuration))
  const geometry = readCodecGeometry(codec, configuration)
  const tokenizer = await openTokenizer(join(folder, model.tokenizer_name), folder, {
    expected: model.text_card,
    stated: `config.json says ${model.text_card} (text_card)`,
  })
  opening.signal?.throwIfAborted()
  const divided = dividedFile(file, sets)
  await requireFinite(codec)
  const quantised = await opening.weightsOf(file, options, quantisation, divided)
  const decoder = keep(await openCodec(codecOf(codec, geometry, configuration, codebooks), options.decoder))
  const backbone = backboneShape(configuration)
  const backboneSession = await load(buildBackbone(quantised, backbone, options), 'backbone')
  const memoryGraphs = Array.from({ length: backbone.layers }, (_, layer) => buildMemory(quantised, backbone, layer))
  const depthSessions = new Map<number, Session>()
  const heads: Session[] = []
  for (let book = 0; book < codebooks; book++) {
    const set = schedule[book]!
    if (!depthSessions.has(set))
      depthSessions.set(set, await load(buildDepth(quantised, depthShape(configuration, set), set), `depth_${set}`))
    heads.push(await load(buildHead(quantised, book), `head_${book}`))
  }
  const tables = await openTables(file, configuration)
  const conditions = await readConditions(file, configuration)
  await opening.settle([file, codec])
  const rotary = createRotaryTable(backbone.headSize, backbone.period)

  return {
    configuration,
    geometry,
    tokenizer,
    conditions,
    tables,
    codebooks,
    openStreams: () => ({
      backbone: createStream({
        session: backboneSession,
        shape: cacheShape(backbone, model.context),
        rotary,
        capacity: 256,
      }),
      depth: openDepth(),
    }),
    /** A place for the keys and values of one voice at a time. */
    openMemory: () =>
      createVoiceMemory(openMemorySession, backbone, conditions, model.fuser.cross_attention_pos_emb_scale),
    openDecoder: () => decoder.open(),
    close: opening.close,
  }

  /** The depth transformer makes a step's codes in turn; one cache, since each set of weights reads others' rows. */
  function openDepth() {
    let set = 0
    const current: Session = {
      inputs: [],
      outputs: [],
      run: (feeds, into) => depthSessions.get(set)!.run(feeds, into),
      close: async () => undefined,
    }
    const shape = depthShape(configuration, 0)
    const stream = createStream({ session: current, shape: cacheShape(shape), capacity: codebooks })
    return {
      reset: () => stream.reset(),
      /** The scores of a codebook, from the backbone's output and the widened row of the codebook before it. */
      async scores(
        book: number,
        hidden: Float32Array,
        embedded: Float32Array,
        spread: Float32Array,
      ): Promise<Float32Array> {
        set = schedule[book]!
        const { made } = await stream.run(
          {
            hidden: floats([1, model.dim], hidden),
            embedded: floats([1, embedded.length], embedded),
            spread: floats([shape.width, embedded.length], spread),
          },
          1,
        )
        const { logits } = await heads[book]!.run({ made: made! })
        return logits!.data as Float32Array
      },
    }
  }

  async function openMemorySession(layer: number): Promise<Session> {
    if (quantised === divided) await file.requireUnchanged()
    return openSession(memoryGraphs[layer]!, { ...placeOf('memory'), frugal: true }).catch((cause: unknown) => {
      throw new AppError('unavailable', `${quantised.path} can no longer be read`, {
        details: ['load the model again: start the server anew'],
        cause,
      })
    })
  }

  function load(graph: Uint8Array, name: string): Promise<Session> {
    return opening.load(graph, quantised, placeOf(name))
  }

  function placeOf(name: string) {
    return { name, weightsFolder: weightsFolder(quantised), threads } as const
  }
}

function chosenCodebooks({ model }: KyutaiConfiguration, wanted = model.dep_q): number {
  if (wanted <= model.dep_q) return wanted
  throw new AppError('configuration', `The model has ${model.dep_q} codebooks, not ${wanted}`, {
    details: ['choose fewer with --codebooks'],
  })
}

/** How the weights are quantised: a file of gigabytes is known by its identity. */
export const quantisation: Omit<QuantisationPlan, 'cacheFolder'> = {
  name: 'kyutai-tts',
  // The graphs that run for every frame on a single row, and the voice's keys and values.
  keeps: /^(transformer|out_norm|text_linear|text_emb\.out[12]|depformer|depformer_in|linears)\./,
  // The matrices that hold all but some hundred thousand of those numbers.
  quantises:
    /(_proj_weight|_proj\.weight|linear_(in|out)\.weight|text_linear\.weight|out[12]\.weight|_in\.\d+\.weight|linears\.\d+\.weight)(#\d+)?$/,
  scales: 'block',
  recognise: 'identity',
}
