import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createNodes, type Nodes, type Value } from '../../../src/inference/nodes.ts'
import { operatorsOf } from '../../../src/inference/operators.ts'

export type Graph = Nodes & ReturnType<typeof operatorsOf>

/** The sizes of a Llama-like decoder, as `config.json` names them. */
export interface DecoderShape {
  readonly vocabulary: number
  readonly hidden: number
  readonly intermediate: number
  readonly layers: number
  readonly heads: number
  readonly keyValueHeads: number
  readonly positions: number
}

/** How a weight matrix [in, out] enters the graph; the bench brings quantised ones. */
export interface WeightForm {
  /** The rows of the embedding table for ids. */
  embed(graph: Graph, ids: Value, shape: DecoderShape): Value
  linear(graph: Graph, x: Value, name: string, inputs: number, outputs: number): Value
  vector(graph: Graph, name: string, size: number): Value
}

/**
 * A decoder with the inputs and outputs of the exports that Hugging Face publishes: `input_ids`, `attention_mask`,
 * `position_ids` and `past_key_values.N.key|value` in, `logits` and `present.N.key|value` out.
 */
export function buildDecoder(shape: DecoderShape, weights: WeightForm): Uint8Array {
  const { hidden, intermediate, layers, heads, keyValueHeads, vocabulary, positions } = shape
  const size = hidden / heads
  const nodes = createNodes('decoder')
  const graph = { ...nodes, ...operatorsOf(nodes) }
  const ids = graph.input('input_ids', 'int64', ['batch', 'sequence'])
  const mask = graph.input('attention_mask', 'int64', ['batch', 'total'])
  const places = graph.input('position_ids', 'int64', ['batch', 'sequence'])
  const pasts = Array.from({ length: layers }, (_, layer) => ({
    key: graph.input(`past_key_values.${layer}.key`, 'float32', ['batch', keyValueHeads, 'past', size]),
    value: graph.input(`past_key_values.${layer}.value`, 'float32', ['batch', keyValueHeads, 'past', size]),
  }))

  const bias = attentionBias(graph, mask, ids)
  const tables = rotaryTables(positions, size)
  const angle = (table: Float32Array) => {
    const half = graph.node('Gather', [graph.constant('float32', [positions, size / 2], table), places])
    return graph.node('Unsqueeze', [graph.concat(2, half, half), graph.integers(1)])
  }
  const [cosines, sines] = [angle(tables.cosines), angle(tables.sines)]
  const rotate = (x: Value) => {
    const [first, second] = graph.split(x, 3, 2)
    const turned = graph.concat(3, graph.node('Neg', [second!]), first!)
    return graph.add(graph.multiply(x, cosines), graph.multiply(turned, sines))
  }
  const toHeads = (x: Value, count: number) => graph.transpose(graph.reshape(x, 0, 0, count, size), 0, 2, 1, 3)
  const norm = (x: Value, name: string) => rootMeanSquareNorm(graph, x, weights.vector(graph, name, hidden))

  let x = weights.embed(graph, ids, shape)
  for (let layer = 0; layer < layers; layer++) {
    const linear = (input: Value, name: string, inputs: number, outputs: number) =>
      weights.linear(graph, input, `${layer}.${name}`, inputs, outputs)
    const normed = norm(x, `${layer}.input_norm`)
    const query = rotate(toHeads(linear(normed, 'q', hidden, hidden), heads))
    const key = rotate(toHeads(linear(normed, 'k', hidden, keyValueHeads * size), keyValueHeads))
    const value = toHeads(linear(normed, 'v', hidden, keyValueHeads * size), keyValueHeads)
    const keys = graph.concat(2, pasts[layer]!.key, key)
    const values = graph.concat(2, pasts[layer]!.value, value)
    graph.output(`present.${layer}.key`, keys, 'float32', ['batch', keyValueHeads, 'total', size])
    graph.output(`present.${layer}.value`, values, 'float32', ['batch', keyValueHeads, 'total', size])

    const wide = (y: Value) => repeatHeads(graph, y, heads / keyValueHeads, shape, size)
    const scores = graph.node('MatMul', [query, graph.transpose(wide(keys), 0, 1, 3, 2)])
    const scaled = graph.add(graph.multiply(scores, graph.scalar(1 / Math.sqrt(size))), bias)
    const probabilities = graph.node('Softmax', [scaled], { axis: { int: -1 } })
    const mixed = graph.transpose(graph.node('MatMul', [probabilities, wide(values)]), 0, 2, 1, 3)
    x = graph.add(x, linear(graph.reshape(mixed, 0, 0, hidden), 'o', hidden, hidden))

    const inner = norm(x, `${layer}.post_norm`)
    const gate = graph.silu(linear(inner, 'gate', hidden, intermediate))
    const product = graph.multiply(gate, linear(inner, 'up', hidden, intermediate))
    x = graph.add(x, linear(product, 'down', intermediate, hidden))
  }
  const logits = weights.linear(graph, norm(x, 'norm'), 'lm_head', hidden, vocabulary)
  graph.output('logits', logits, 'float32', ['batch', 'sequence', vocabulary])
  return graph.encode()
}

/** A model folder as `models pull` leaves it: the graph, its configuration, and a tokenizer of bytes with a chat template. */
export function writeTinyModel(folder: string, shape: DecoderShape, weights: DecoderWeights, more: object = {}): void {
  const put = (name: string, content: string | Uint8Array) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  put('onnx/model_quantized.onnx', buildDecoder(shape, weights.form))
  put(
    'config.json',
    JSON.stringify({
      model_type: 'llama',
      hidden_size: shape.hidden,
      num_hidden_layers: shape.layers,
      num_attention_heads: shape.heads,
      num_key_value_heads: shape.keyValueHeads,
      max_position_embeddings: shape.positions,
      vocab_size: shape.vocabulary,
      eos_token_id: tinyTokens.end,
      ...more,
    }),
  )
  put('generation_config.json', JSON.stringify({ eos_token_id: tinyTokens.end }))
  put('tokenizer.json', JSON.stringify(byteTokenizer()))
  put(
    'tokenizer_config.json',
    JSON.stringify({
      tokenizer_class: 'GPT2Tokenizer',
      bos_token: '<|im_start|>',
      eos_token: '<|im_end|>',
      chat_template: tinyTemplate,
    }),
  )
}

/** ChatML, as SmolLM2's template but for its default system prompt. */
export const tinyTemplate =
  "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"

/** Ids of the tokenizer below: three special tokens, then one for each byte. */
export const tinyTokens = { unknown: 0, start: 1, end: 2, firstByte: 3, count: 259 } as const

/** Byte-level BPE without merges, as GPT-2's (https://github.com/openai/gpt-2/blob/master/src/encoder.py). */
export function byteTokenizer(): object {
  const vocabulary: Record<string, number> = { '<|endoftext|>': 0, '<|im_start|>': 1, '<|im_end|>': 2 }
  let spare = 0
  for (let byte = 0; byte < 256; byte++) {
    const plain = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174
    vocabulary[String.fromCharCode(plain ? byte : 256 + spare++)] = tinyTokens.firstByte + byte
  }
  const special = (id: number, content: string) => ({
    id,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  })
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [special(0, '<|endoftext|>'), special(1, '<|im_start|>'), special(2, '<|im_end|>')],
    normalizer: null,
    pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
    post_processor: null,
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: { type: 'BPE', dropout: null, unk_token: '<|endoftext|>', vocab: vocabulary, merges: [] },
  }
}

/** Random weights that the graph and the reference below share. */
export interface DecoderWeights {
  readonly form: WeightForm
  readonly embedding: Float32Array
  matrix(name: string): Float32Array
  vector(name: string): Float32Array
}

export function randomWeights(shape: DecoderShape, seed = 1): DecoderWeights {
  const random = gaussian(seed)
  const tensors = new Map<string, Float32Array>()
  const tensor = (name: string, length: number, scale: number, mean = 0) => {
    const known = tensors.get(name) ?? Float32Array.from({ length }, () => mean + scale * random())
    tensors.set(name, known)
    return known
  }
  const embedding = tensor('embedding', shape.vocabulary * shape.hidden, 1)
  return {
    embedding,
    matrix: (name) => tensors.get(name)!,
    vector: (name) => tensors.get(name)!,
    form: {
      embed: (graph, ids) =>
        graph.node('Gather', [graph.constant('float32', [shape.vocabulary, shape.hidden], embedding), ids]),
      linear: (graph, x, name, inputs, outputs) =>
        graph.node('MatMul', [
          x,
          graph.constant('float32', [inputs, outputs], tensor(name, inputs * outputs, 1.5 / Math.sqrt(inputs))),
        ]),
      vector: (graph, name, size) => graph.constant('float32', [size], tensor(name, size, 0.1, 1)),
    },
  }
}

/** Epsilon of the norms (SmolLM2's `rms_norm_eps`). */
export const epsilon = 1e-5

function attentionBias(graph: Graph, mask: Value, ids: Value): Value {
  const one = graph.constant('int64', [], BigInt64Array.of(1n))
  const zero = graph.constant('int64', [], BigInt64Array.of(0n))
  const total = graph.node('Squeeze', [graph.sizeOf(mask, 1)])
  const fresh = graph.node('Squeeze', [graph.sizeOf(ids, 1)])
  const range = (from: Value, to: Value) => graph.node('Range', [from, to, one])
  const keyPlaces = graph.node('Unsqueeze', [range(zero, total), graph.integers(0)])
  const queryPlaces = graph.node('Unsqueeze', [range(graph.node('Sub', [total, fresh]), total), graph.integers(1)])
  const causal = graph.node('LessOrEqual', [keyPlaces, queryPlaces])
  const visible = graph.node('Unsqueeze', [graph.node('Cast', [mask], { to: { int: 9 } }), graph.integers(1, 2)])
  const allowed = graph.node('And', [causal, visible])
  return graph.node('Where', [allowed, graph.scalar(0), graph.scalar(-3.4e38)])
}

function rootMeanSquareNorm(graph: Graph, x: Value, weight: Value): Value {
  const mean = graph.node('ReduceMean', [graph.multiply(x, x), graph.integers(-1)], { keepdims: { int: 1 } })
  const root = graph.node('Sqrt', [graph.add(mean, graph.scalar(epsilon))])
  return graph.multiply(graph.node('Div', [x, root]), weight)
}

/** [batch, kv heads, total, size] → [batch, heads, total, size], each row of heads repeated. */
function repeatHeads(
  graph: Graph,
  x: Value,
  times: number,
  { heads, keyValueHeads }: DecoderShape,
  size: number,
): Value {
  if (times === 1) return x
  const batch = graph.sizeOf(x, 0)
  const total = graph.sizeOf(x, 2)
  const wide = graph.node('Expand', [
    graph.node('Unsqueeze', [x, graph.integers(2)]),
    graph.concat(0, batch, graph.integers(keyValueHeads, times), total, graph.integers(size)),
  ])
  return graph.node('Reshape', [wide, graph.concat(0, batch, graph.integers(heads), total, graph.integers(size))])
}

/** Cosines and sines of the rotary angles, [positions, size / 2] each. */
export function rotaryTables(positions: number, size: number): { cosines: Float32Array; sines: Float32Array } {
  const half = size / 2
  const angles = Float32Array.from(
    { length: positions * half },
    (_, index) => Math.floor(index / half) / 10_000 ** ((2 * (index % half)) / size),
  )
  return { cosines: angles.map(Math.cos), sines: angles.map(Math.sin) }
}

/** Normal numbers by Box and Muller over a small generator, the same on every machine. */
function gaussian(seed: number): () => number {
  let state = seed
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state + 0.5) / 2 ** 32
  }
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform())
}
