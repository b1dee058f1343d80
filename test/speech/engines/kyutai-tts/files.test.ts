/** Files that are missing, damaged or another model's are named when the model is loaded, and nothing is spoken. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createEngine } from '../../../../speech/engines/kyutai-tts/engine.ts'
import type { NewTensor } from '../../../../src/inference/tensor-writer.ts'
import { suite } from '../../../helpers/suite.ts'
import { tokenizerModel } from '../pocket-tts/model.ts'
import { type Content, edit, rewrite, spoiltModels } from '../spoilt-model.ts'
import { files, makeKyutaiModel } from './model.ts'

const test = suite('the files of a Kyutai TTS model')

const { copyOfModel, load, assertNamed } = spoiltModels(makeKyutaiModel, createEngine)

test('without a configuration the codec is taken for the published one, and what it lacks is named', async () => {
  const folder = await copyOfModel()
  rmSync(join(folder, 'mimi-config.json'))
  await assertNamed(folder, /codec\.safetensors/, /decoder_transformer\.transformer\.layers\.\d\.\S+ is missing/)
})

const renamed = (from: string, to: string) => (tensor: NewTensor) => [
  tensor.name === from ? { ...tensor, name: to } : tensor,
]

test('tensors that are missing, renamed, of another shape, or no numbers', async () => {
  const stacked = 'depformer.layers.0.self_attn.in_proj_weight'
  const norm = 'transformer.layers.1.norm1.alpha'
  for (const [file, change, ...says] of [
    [files.model, renamed(norm, `${norm}s`), /norm1\.alpha is missing/, /norm1\.alphas is not known/],
    [
      files.model,
      ({ name, ...rest }: NewTensor) => (name === 'emb.3.weight' ? [] : [{ name, ...rest }]),
      /emb\.3\.weight is missing/,
    ],
    [
      files.model,
      (tensor: NewTensor) => [tensor.name === stacked ? { ...tensor, shape: tensor.shape.toReversed() } : tensor],
      /in_proj_weight has shape \[16,144\], expected \[144,16\]/,
    ],
    [
      files.model,
      (tensor: NewTensor) => [
        tensor.name === norm ? { ...tensor, data: () => new Uint16Array(32).fill(0x7fc0) } : tensor,
      ],
      /norm1\.alpha holds numbers that are not finite/,
    ],
    [
      files.codec,
      renamed('decoder.model.2.convtr.convtr.weight', 'decoder.model.2.convtr.convtr.weights'),
      /decoder\.model\.2\.convtr\.convtr\.weight is missing/,
    ],
    [
      files.codec,
      (tensor: NewTensor) => (tensor.name === 'quantizer.rvq_rest.vq.layers.1._codebook.cluster_usage' ? [] : [tensor]),
      /rvq_rest\.vq\.layers\.1\._codebook\.cluster_usage is missing/,
    ],
    [
      files.codec,
      (tensor: NewTensor) => [
        tensor.name.endsWith('linear1.weight')
          ? { ...tensor, data: () => new Float32Array(24 * 16).fill(Number.NaN) }
          : tensor,
      ],
      /linear1\.weight holds numbers that are not finite/,
    ],
  ] as const) {
    const folder = await copyOfModel()
    await rewrite(join(folder, file), change)
    await assertNamed(folder, ...says)
  }
})

test('the spellings of the authors’ other programs are read too', async () => {
  const folder = await copyOfModel()
  const sets = 3
  await rewrite(join(folder, files.model), (tensor) => {
    const stacked = /^(depformer\..*)\.(in|out)_proj(_weight|\.weight)$/.exec(tensor.name)
    if (!stacked) return [{ ...tensor, name: tensor.name.replace(/in_proj_weight$/, 'in_proj.weight') }]
    const bytes = tensor.data() as Uint8Array
    const size = bytes.length / sets
    return Array.from({ length: sets }, (_, set) => ({
      name: `${stacked[1]}.${stacked[2]}_projs.${set}.weight`,
      dtype: tensor.dtype,
      shape: [tensor.shape[0]! / sets, tensor.shape[1]!],
      data: () => bytes.subarray(set * size, (set + 1) * size),
    }))
  })
  await rewrite(join(folder, files.codec), (tensor) => [
    { ...tensor, name: tensor.name.replace('cluster_usage', 'cluster_size').replace('embedding_sum', 'embed_sum') },
  ])
  assert.is(await load(folder), undefined)
})

test('a tokenizer of another model', async () => {
  const folder = await copyOfModel()
  for (const pieces of [339, 341]) {
    writeFileSync(join(folder, files.tokenizer), tokenizerModel(pieces))
    await assertNamed(folder, /tokenizer\.model does not belong/, new RegExp(`${pieces} pieces`))
  }
  writeFileSync(join(folder, files.tokenizer), 'no tokenizer')
  await assertNamed(folder, /tokenizer\.model/)
})

test('a configuration that contradicts itself or the weights, or is of another model', async () => {
  for (const [change, ...says] of [
    [(content: Content) => void Object.assign(content, { num_heads: 3 }), /num_heads: 3 heads/],
    [(content: Content) => void Object.assign(content, { delays: [0, 0] }), /delays: 2 of them for 5 streams/],
    [(content: Content) => void Object.assign(content, { dim: 64 }), /dsm\.safetensors/, /expected \[341,64\]/],
    [(content: Content) => void Object.assign(content, { dim: '64', n_q: 0 }), /dim:/, /n_q:/],
    [(content: Content) => void Object.assign(content, { moshi_name: '../model.safetensors' }), /moshi_name/],
    [(content: Content) => void Object.assign(content, { cross_attention: false }), /cross_attention/],
    [(content: Content) => void delete content['conditioners'], /conditioners/],
  ] as const) {
    const folder = await copyOfModel()
    edit(join(folder, 'config.json'), change)
    await assertNamed(folder, /config\.json|dsm/, ...says)
  }
  const folder = await copyOfModel()
  edit(join(folder, 'mimi-config.json'), (content) => void Object.assign(content, { seanet: { ratios: [4, 4] } }))
  await assertNamed(folder, /re-samples by 4,3, mimi-config\.json says 4,4/)
  writeFileSync(join(folder, 'config.json'), '{')
  await assertNamed(folder, /config\.json is not JSON/)
})

test.run()
