import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as yieldTurn } from 'node:timers/promises'
import { AppError } from '../errors.ts'
import { createSampler, type SamplingOptions } from '../inference/inference.ts'
import { type Decoder, type DecoderSizes, openDecoder } from './decoder.ts'
import type { GenerationEnd, GenerationRequest } from './model-messages.ts'
import { createPromptWriter, type PromptWriter } from './prompt.ts'
import { createTextStream } from './text-stream.ts'

export interface ChatModel {
  /**
   * Answers a conversation; `onText` gets the text piece by piece. Between two tokens it yields to the event loop, so
   * that a cancel is heard, and it ends before the next one when the signal is aborted. One call at a time.
   */
  generate(request: GenerationRequest, onText: (text: string) => void, signal?: AbortSignal): Promise<GenerationEnd>
  close(): Promise<void>
}

/** Prompt tokens computed in one run: the scores of each take a row of the vocabulary in memory. */
const promptPiece = 128

/** Tokens of an answer when the request sets no limit: small models ramble. */
const defaultMaxTokens = 1024

/** Share of the context that is kept free for the answer. */
const answerShare = 0.25

/** From SmolLM2's model card (https://huggingface.co/HuggingFaceTB/SmolLM2-360M-Instruct); greedy small models repeat themselves. */
const defaultSampling: Omit<SamplingOptions, 'seed'> = {
  temperature: 0.2,
  topP: 0.9,
  topK: 0,
  repetitionPenalty: 1.1,
  presencePenalty: 0,
  frequencyPenalty: 0,
}

/** Opens a model from its folder. Throws `invalid` naming the file that is wrong. */
export async function openChatModel(options: { name: string; folder: string; threads: number }): Promise<ChatModel> {
  const { folder, name } = options
  const configuration = readJson(folder, 'config.json')
  const generation = existsSync(join(folder, 'generation_config.json'))
    ? readJson(folder, 'generation_config.json')
    : {}
  const separate = join(folder, 'chat_template.jinja')
  const writer = createPromptWriter({
    tokenizer: readJson(folder, 'tokenizer.json'),
    configuration: readJson(folder, 'tokenizer_config.json'),
    template: existsSync(separate) ? readFileSync(separate, 'utf8') : undefined,
  })
  const decoder = await openDecoder(join(folder, 'onnx', 'model_quantized.onnx'), sizesOf(configuration, name), options)
  const ends = new Set([...idsIn(generation['eos_token_id']), ...idsIn(configuration['eos_token_id'])])
  return createChatModel(decoder, writer, ends)
}

/** A chat model over an open decoder; `ends` are the tokens that end an answer. */
export function createChatModel(decoder: Decoder, writer: PromptWriter, ends: ReadonlySet<number>): ChatModel {
  const { context } = decoder.sizes
  return {
    async generate({ messages, sampling, maxTokens = defaultMaxTokens, stop }, onText, signal) {
      const prompt = writer.write(messages, context - Math.min(maxTokens, Math.ceil(context * answerShare)))
      const sampler = createSampler({
        ...defaultSampling,
        seed: Math.random() * 2 ** 32,
        ...withoutUndefined(sampling),
      })
      const stream = createTextStream(writer.decode, stop)
      for (const id of prompt) sampler.add(id, 'prompt')
      decoder.reset()
      let scores = await readPrompt(prompt, signal)
      const most = Math.min(maxTokens, context - prompt.length)
      let answered = 0
      let reason: GenerationEnd['reason'] = 'length'
      for (;;) {
        const id = sampler.choose(scores)
        answered++
        if (ends.has(id)) {
          reason = 'stop'
          break
        }
        const { text, stopped } = stream.push(id)
        if (text !== '') onText(text)
        if (stopped) return { reason: 'stop', promptTokens: prompt.length, answerTokens: answered }
        if (answered >= most) break
        sampler.add(id, 'answer')
        await yieldTurn()
        signal?.throwIfAborted()
        scores = await decoder.append([id])
      }
      const rest = stream.end()
      if (rest !== '') onText(rest)
      return { reason, promptTokens: prompt.length, answerTokens: answered }
    },
    close: () => decoder.close(),
  }

  async function readPrompt(prompt: readonly number[], signal: AbortSignal | undefined): Promise<Float32Array> {
    let scores = new Float32Array()
    for (let from = 0; from < prompt.length; from += promptPiece) {
      await yieldTurn()
      signal?.throwIfAborted()
      scores = (await decoder.append(prompt.slice(from, from + promptPiece))) as Float32Array<ArrayBuffer>
    }
    return scores
  }
}

/** Reads the sizes of the cache from the fields of Llama's family. Throws `invalid` naming the field. */
function sizesOf(configuration: Readonly<Record<string, unknown>>, name: string): DecoderSizes {
  const value = (field: string, fallback?: number): number => {
    const found = configuration[field] ?? fallback
    if (typeof found === 'number' && Number.isInteger(found) && found > 0 && found < 2 ** 24) return found
    throw new AppError('invalid', `The model ${name} cannot be used: invalid ${field} in its config.json`)
  }
  const heads = value('num_attention_heads')
  return {
    layers: value('num_hidden_layers'),
    keyValueHeads: value('num_key_value_heads', heads),
    headSize: value('head_dim', Math.floor(value('hidden_size') / heads)),
    context: value('max_position_embeddings'),
  }
}

function readJson(folder: string, name: string): Readonly<Record<string, unknown>> {
  const path = join(folder, name)
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
    throw new Error('not an object')
  } catch (cause) {
    throw new AppError('invalid', `${path} cannot be read: pull the model again`, { cause })
  }
}

function idsIn(value: unknown): readonly number[] {
  return [value].flat().filter((id): id is number => typeof id === 'number')
}

function withoutUndefined<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T
}
