import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createNodes } from '../../src/inference/nodes.ts'
import { isRuntimeInstalled } from '../../src/inference/session.ts'
import { createModelProcess } from '../../src/runners/model-process.ts'
import { createPulledEmbedder, embeddingForms } from '../../src/runners/pulled-embedder.ts'
import { closing } from '../helpers/disposal.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { suite } from '../helpers/suite.ts'

const all = suite('the pulled embedding models')
const test = (await isRuntimeInstalled()) ? all : all.skip

const words = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', 'cat', 'dog', 'run', '##s']
const size = 4
const table = Float32Array.from({ length: words.length * size }, (_, index) => Math.sin(index * 1.7) + index / 20)
const folder = temporaryFolder()

/** An encoder with a table row as the hidden state of each word piece: the result of pooling is known. */
function encoder(): Uint8Array {
  const graph = createNodes('encoder')
  const ids = graph.input('input_ids', 'int64', ['batch', 'sequence'])
  graph.input('attention_mask', 'int64', ['batch', 'sequence'])
  graph.input('token_type_ids', 'int64', ['batch', 'sequence'])
  const states = graph.node('Gather', [graph.constant('float32', [words.length, size], table), ids])
  graph.output('last_hidden_state', states, 'float32', ['batch', 'sequence', size])
  return graph.encode()
}

const special = (id: number) => ({
  id,
  content: words[id],
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special: true,
})

/** A tokenizer.json as the authors of both models publish them. */
const wordPieces = {
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: [0, 1, 2, 3].map(special),
  normalizer: {
    type: 'BertNormalizer',
    clean_text: true,
    handle_chinese_chars: true,
    strip_accents: null,
    lowercase: true,
  },
  pre_tokenizer: { type: 'BertPreTokenizer' },
  post_processor: {
    type: 'TemplateProcessing',
    single: [
      { SpecialToken: { id: '[CLS]', type_id: 0 } },
      { Sequence: { id: 'A', type_id: 0 } },
      { SpecialToken: { id: '[SEP]', type_id: 0 } },
    ],
    pair: [],
    special_tokens: {
      '[CLS]': { id: '[CLS]', ids: [2], tokens: ['[CLS]'] },
      '[SEP]': { id: '[SEP]', ids: [3], tokens: ['[SEP]'] },
    },
  },
  decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
  model: {
    type: 'WordPiece',
    unk_token: '[UNK]',
    continuing_subword_prefix: '##',
    max_input_chars_per_word: 100,
    vocab: Object.fromEntries(words.map((word, id) => [word, id])),
  },
}

all.before(async () => {
  mkdirSync(join(folder, 'onnx'))
  writeFileSync(join(folder, 'onnx', 'model_quantized.onnx'), encoder())
  writeFileSync(join(folder, 'tokenizer_config.json'), JSON.stringify({ tokenizer_class: 'BertTokenizer' }))
  writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(wordPieces))
})
all.after(() => rmSync(folder, { recursive: true, force: true }))

/** The mean of the rows of the pieces, made one long. */
function pooled(pieces: readonly number[]): number[] {
  const mean = Array.from({ length: size }, (_, index) =>
    pieces.reduce((sum, id) => sum + table[id * size + index]!, 0),
  )
  const length = Math.hypot(...mean)
  return mean.map((value) => value / length)
}

function embedder() {
  return createPulledEmbedder({
    name: 'minilm',
    form: embeddingForms.get('minilm')!,
    installed: () => ({ folder, fingerprint: 'f00d' }),
    open: () => createModelProcess({ kind: 'embedding', name: 'minilm', folder, threads: 1 }),
  })
}

function near(vector: Float32Array, expected: readonly number[]): void {
  for (const [index, value] of expected.entries()) assert.ok(Math.abs(vector[index]! - value) < 1e-5)
}

test('a vector is the mean over the real word pieces, of length 1, whichever texts share its batch', async () => {
  await using minilm = closing(embedder())
  const { vectors, space } = await minilm.embed(['Cat runs', 'dog', '', 'the cat'], 'document')
  near(vectors[0]!, pooled([2, 4, 6, 7, 3]))
  near(vectors[1]!, pooled([2, 5, 3]))
  near(vectors[2]!, pooled([2, 3]))
  near(vectors[3]!, pooled([2, 1, 4, 3]))
  for (const vector of vectors) assert.ok(Math.abs(Math.hypot(...vector) - 1) < 1e-5)
  assert.equal(space, { key: 'minilm@f00d', model: 'minilm', dimension: 384 })
})

test('hundreds of texts come back in their order', async () => {
  await using minilm = closing(embedder())
  const texts = Array.from(
    { length: 300 },
    (_, index) => `${'cat '.repeat(index % 7)}${'dog '.repeat((index * 3) % 5)}`,
  )
  const { vectors } = await minilm.embed(texts, 'document')
  assert.is(vectors.length, 300)
  for (const [index, text] of texts.entries()) {
    const pieces = text.split(' ').filter(Boolean)
    near(vectors[index]!, pooled([2, ...pieces.map((word) => words.indexOf(word)), 3]))
  }
})

test('a text longer than the model reads is cut, and still begins and ends as texts do', async () => {
  await using minilm = closing(embedder())
  const { vectors } = await minilm.embed(['cat '.repeat(2000)], 'document')
  near(vectors[0]!, pooled([2, ...new Array<number>(254).fill(4), 3]))
})

test('a model that is not pulled is named with the command that pulls it', async () => {
  const minilm = createPulledEmbedder({
    name: 'minilm',
    form: embeddingForms.get('minilm')!,
    installed: () => undefined,
  })
  assert.not.ok(minilm.isInstalled())
  assert.is(minilm.space(), undefined)
  try {
    await minilm.embed(['cat'], 'query')
    assert.unreachable()
  } catch (reason) {
    assert.match((reason as Error).message, /aichat models pull minilm/)
  }
})

all.run()
