/** Files that are missing, damaged or another model's are named when the model is loaded, and nothing is spoken. */
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { cp, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createKyutaiEngine } from '../../../../speech/engines/kyutai-tts/engine.ts'
import type { AppError } from '../../../../src/errors.ts'
import { openTensorFile } from '../../../../src/inference/safetensors.ts'
import { type NewTensor, writeTensorFile } from '../../../../src/inference/tensor-writer.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'
import { suite } from '../../../helpers/suite.ts'
import { tokenizerModel } from '../pocket-tts/model.ts'
import { files, makeKyutaiModel } from './model.ts'

const test = suite('the files of a Kyutai TTS model')

const original = join(temporaryFolder(), 'tiny')
const made = makeKyutaiModel(original)

/** A copy of the tiny model that a test may spoil. */
async function copyOfModel(): Promise<string> {
  await made
  const folder = join(temporaryFolder(), 'copy')
  await cp(original, folder, { recursive: true })
  return folder
}

async function load(folder: string, cacheFolder = temporaryFolder()): Promise<AppError | undefined> {
  const engine = createKyutaiEngine({ folder, cacheFolder })
  try {
    await engine.load()
    return undefined
  } catch (thrown) {
    return thrown as AppError
  } finally {
    await engine.close()
  }
}

async function assertNamed(folder: string, ...says: readonly RegExp[]): Promise<void> {
  const refusal = await load(folder)
  assert.ok(refusal, 'it was loaded')
  assert.is(refusal.code, 'unavailable', refusal.stack)
  const said = [refusal.message, ...refusal.details].join('\n')
  for (const pattern of says) assert.match(said, pattern)
}

/** Writes a weights file anew with other tensors. */
async function rewrite(path: string, change: (tensor: NewTensor) => readonly NewTensor[]): Promise<void> {
  const file = await openTensorFile(path)
  const tensors: NewTensor[] = []
  for (const { name, dtype, shape } of file.tensors.values()) {
    const data = await file.bytes(name)
    tensors.push(...change({ name, dtype, shape, data: () => data }))
  }
  await file.close()
  await writeTensorFile(path, tensors)
}

type Content = Record<string, unknown>

function edit(path: string, change: (content: Content) => void): void {
  const content = JSON.parse(readFileSync(path, 'utf8')) as Content
  change(content)
  writeFileSync(path, JSON.stringify(content))
}

for (const name of ['config.json', ...Object.values(files)])
  test(`${name} missing`, async () => {
    const folder = await copyOfModel()
    rmSync(join(folder, name))
    await assertNamed(folder, new RegExp(name.replace('.', '\\.')), /missing/)
  })

test('without a configuration the codec is taken for the published one, and what it lacks is named', async () => {
  const folder = await copyOfModel()
  rmSync(join(folder, 'mimi-config.json'))
  await assertNamed(folder, /codec\.safetensors/, /decoder_transformer\.transformer\.layers\.\d\.\S+ is missing/)
})

for (const name of [files.model, files.codec])
  test(`${name} truncated`, async () => {
    const folder = await copyOfModel()
    for (const size of [10_000, 5000, 4, 0]) {
      truncateSync(join(folder, name), size)
      await assertNamed(folder, new RegExp(name.replace('.', '\\.')))
    }
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

test('quantised weights are made once, and again for other weights', async () => {
  const folder = await copyOfModel()
  const cache = temporaryFolder()
  const made = async () => (await readdir(cache)).filter((name) => name.endsWith('.safetensors')).sort()
  assert.is(await load(folder, cache), undefined)
  const first = await made()
  assert.is(first.length, 1)
  assert.is(await load(folder, cache), undefined)
  assert.equal(await made(), first)
  await rewrite(join(folder, files.model), (tensor) => [tensor])
  assert.is(await load(folder, cache), undefined)
  assert.is((await made()).length, 2)
})

test.run()
