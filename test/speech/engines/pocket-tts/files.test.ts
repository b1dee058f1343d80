/** A model, tokenizer or configuration that is wrong is refused by name when it is loaded, before anything is spoken. */
import { rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createEngine } from '../../../../speech/engines/pocket-tts/engine.ts'
import { companionFolders, findPocketModels } from '../../../../speech/engines/pocket-tts/model-folder.ts'
import type { AppError } from '../../../../src/errors.ts'
import { type NewTensor, writeTensorFile } from '../../../../src/inference/tensor-writer.ts'
import { knownModels } from '../../../../src/model-hub/known-models.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'
import { pluck } from '../../../helpers/pluck.ts'
import { suite } from '../../../helpers/suite.ts'
import { makePocketModel, modelTensors, tinySize, tokenizerModel } from './model.ts'

const test = suite('the files of pocket-tts')

/** A tiny model that `change` has spoilt, and the error of loading it. */
async function refusalOf(change: (folder: string) => Promise<void>, size = tinySize): Promise<AppError> {
  const folder = join(temporaryFolder(), 'tiny')
  await makePocketModel(folder, size)
  await change(folder)
  const engine = createEngine({ folder, cacheFolder: temporaryFolder() })
  let refusal: unknown
  await engine.load().catch((thrown: unknown) => {
    refusal = thrown
  })
  await engine.close()
  assert.is((refusal as AppError | undefined)?.name, 'AppError', 'it must be refused')
  return refusal as AppError
}

/** Everything that a user is told. */
function told({ message, details }: AppError): string {
  return [message, ...details].join('\n')
}

/** Writes the weights again with tensors changed, added or left out. */
function rewrite(change: (tensors: NewTensor[]) => NewTensor[]): (folder: string) => Promise<void> {
  return (folder) => writeTensorFile(join(folder, 'model.safetensors'), change(modelTensors(tinySize, 1)))
}

const zeros = (name: string, shape: number[]): NewTensor => ({
  name,
  dtype: 'F32',
  shape,
  data: () => new Float32Array(shape.reduce((product, size) => product * size, 1)),
})

for (const name of [
  'flow_lm.bos_emb',
  'flow_lm.emb_std',
  'flow_lm.out_eos.bias',
  'flow_lm.speaker_proj_weight',
  'flow_lm.transformer.layers.1.linear2.weight',
  'flow_lm.flow_net.time_embed.1.freqs',
  'flow_lm.flow_net.res_blocks.0.mlp.2.weight',
  'mimi.decoder.model.5.convtr.weight',
  'mimi.decoder.model.3.block.3.conv.bias',
  'mimi.decoder_transformer.transformer.layers.0.layer_scale_2.scale',
  'mimi.encoder.model.6.conv.weight',
  'mimi.upsample.convtr.convtr.weight',
])
  test(`weights without ${name} are refused, naming it`, async () => {
    const refusal = await refusalOf(rewrite((tensors) => tensors.filter((tensor) => tensor.name !== name)))
    assert.is(refusal.code, 'unavailable')
    assert.match(told(refusal), 'model.safetensors')
    assert.match(told(refusal), name)
  })

test('a tensor that no such model has is refused, naming it', async () => {
  const refusal = await refusalOf(rewrite((tensors) => [...tensors, zeros('flow_lm.extra.weight', [2, 2])]))
  assert.match(told(refusal), 'flow_lm.extra.weight is not known')
})

test('every tensor of a wrong shape or type is named at once', async () => {
  const spoil = (tensors: NewTensor[]) =>
    tensors.map((tensor): NewTensor => {
      if (tensor.name === 'flow_lm.input_linear.weight') return zeros(tensor.name, [128, 13])
      if (tensor.name === 'mimi.decoder.model.0.conv.weight') return zeros(tensor.name, [16, 65, 7])
      if (tensor.name !== 'flow_lm.out_norm.bias') return tensor
      return { ...tensor, dtype: 'I64', data: () => new BigInt64Array(128) }
    })
  const refusal = await refusalOf(rewrite(spoil))
  for (const name of ['flow_lm.input_linear.weight', 'mimi.decoder.model', 'flow_lm.out_norm.bias holds I64'])
    assert.match(told(refusal), name)
})

test('weights that are not finite are refused, naming the tensor', async () => {
  const name = 'flow_lm.transformer.layers.0.linear1.weight'
  const spoil = (tensors: NewTensor[]) =>
    tensors.map((tensor): NewTensor => {
      if (tensor.name !== name) return tensor
      const { shape } = tensor
      return {
        name,
        dtype: 'F32',
        shape,
        data: () => new Float32Array(shape[0]! * shape[1]!).fill(1).fill(Number.NaN, 9, 10),
      }
    })
  assert.match(told(await refusalOf(rewrite(spoil))), name)
})

test('a truncated weights file is refused, naming it, wherever it ends', async () => {
  const folder = join(temporaryFolder(), 'tiny')
  await makePocketModel(folder)
  const { size } = await stat(join(folder, 'model.safetensors'))
  for (const length of [0, 5, 8, 100, 9000, Math.floor(size / 2), size - 1]) {
    const refusal = await refusalOf((spoilt) => truncate(join(spoilt, 'model.safetensors'), length))
    assert.match(told(refusal), 'model.safetensors')
    assert.match(told(refusal), /truncated|not a safetensors file|bytes/)
  }
})

test('a missing weights file and a missing tokenizer are named', async () => {
  for (const name of ['model.safetensors', 'tokenizer.model']) {
    const refusal = await refusalOf((folder) => rm(join(folder, name)))
    assert.is(refusal.code, 'unavailable')
    assert.match(told(refusal), name)
  }
})

test('a tokenizer with more or fewer pieces than the text table has rows for is refused', async () => {
  for (const pieces of [600, 341, 339]) {
    const refusal = await refusalOf((folder) => writeFile(join(folder, 'tokenizer.model'), tokenizerModel(pieces)))
    assert.match(told(refusal), 'tokenizer.model')
    assert.match(told(refusal), `${pieces} pieces`)
  }
})

test('a configuration with heads that do not make up the width of the weights is refused', async () => {
  const refusal = await refusalOf((folder) => writeFile(join(folder, 'config.json'), '{"flow_lm":{"num_heads":3}}'))
  assert.match(told(refusal), '3 heads')
})

test('a configuration with values of the wrong kind is refused, naming them', async () => {
  const refusal = await refusalOf((folder) =>
    writeFile(
      join(folder, 'config.json'),
      '{"sample_rate":"fast","flow_lm":{"ffn_activation":"silu"},"mimi":{"seanet":{"pad_mode":"reflect"}}}',
    ),
  )
  for (const name of ['config.json', 'sample_rate', 'flow_lm.ffn_activation', 'mimi.seanet.pad_mode'])
    assert.match(told(refusal), name)
})

test('models are found where the hub and hands put them, English and the edition that clones first', async () => {
  const models = temporaryFolder()
  assert.is(findPocketModels(models)[0]?.folder, undefined)
  const { configuration: _, ...size } = tinySize
  const open = join(models, 'kyutai', 'pocket-tts-without-voice-cloning', 'languages')
  const gated = join(models, 'kyutai', 'pocket-tts', 'languages')
  await makePocketModel(join(open, 'german_24l'), size)
  assert.is(findPocketModels(models)[0]?.folder, join(open, 'german_24l'))
  await makePocketModel(join(open, 'german'), size)
  await makePocketModel(join(open, 'english_2026-01'), size)
  await makePocketModel(join(open, 'english'), size)
  assert.is(findPocketModels(models)[0]?.folder, join(open, 'english'))
  await makePocketModel(join(gated, 'english'), size)
  assert.is(findPocketModels(models)[0]?.folder, join(gated, 'english'))
  assert.equal(pluck(findPocketModels(models), 'language', 'folder'), [
    ['English', join(gated, 'english')],
    ['German', join(open, 'german')],
  ])
})

test('every model that can be pulled is found where it is put', async () => {
  const pulled = [...knownModels.values()].filter(({ editions }) => editions[0]!.folder.includes('/pocket-tts'))
  assert.ok(pulled.length >= 6)
  for (const { editions } of pulled)
    for (const { folder } of editions) {
      const models = temporaryFolder()
      await makePocketModel(join(models, ...folder.split('/')))
      assert.is(findPocketModels(models)[0]?.folder, join(models, ...folder.split('/')))
    }
})

test('the gated weights take tokenizer and voices from the open edition', async () => {
  const models = temporaryFolder()
  const [gated, open] = ['pocket-tts', 'pocket-tts-without-voice-cloning'].map((name) =>
    join(models, 'kyutai', name, 'languages', 'english'),
  ) as [string, string]
  await makePocketModel(open)
  await makePocketModel(gated)
  await rm(join(gated, 'tokenizer.model'))
  await rm(join(gated, 'embeddings'), { recursive: true })
  assert.ok(companionFolders(gated).includes(open))
  const engine = createEngine({ folder: gated, cacheFolder: temporaryFolder() })
  await engine.load()
  await engine.prepareVoice({ kind: 'preset', voice: 'alba' })
  await engine.close()
})

test.run()
