// Some with --all only: many processes.
/** Files that are missing, damaged or another model's are named when the model is loaded, and nothing is spoken. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createEngine } from '../../../../speech/engines/qwen3-tts/engine.ts'
import type { NewTensor } from '../../../../src/inference/tensor-writer.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'
import { suite } from '../../../helpers/suite.ts'
import { type Content, edit, quantisedIn, rewrite, spoiltModels } from '../spoilt-model.ts'
import { makeQwenModel, tinySize } from './model.ts'

const test = suite('the files of a Qwen3-TTS model')

const { copyOfModel, load, assertNamed } = spoiltModels(
  (folder) => makeQwenModel(folder, { ...tinySize, kind: 'base' }),
  createEngine,
)

function setField(content: Content, [first = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) content[first] = value
  else setField(content[first] as Content, rest, value)
}

test('without generation_config.json the values of the reference hold', async () => {
  const folder = await copyOfModel()
  rmSync(join(folder, 'generation_config.json'))
  assert.is(await load(folder), undefined)
})

test('tensors that are renamed, of another shape, or no numbers', async () => {
  const layer = 'talker.model.layers.1.self_attn.q_norm.weight'
  for (const [change, ...says] of [
    [
      (tensor: NewTensor) => [{ ...tensor, name: tensor.name === layer ? `${layer}s` : tensor.name }],
      /q_norm\.weight is missing/,
      /q_norm\.weights is not known/,
    ],
    [
      (tensor: NewTensor) => [
        tensor.name === 'talker.codec_head.weight' ? { ...tensor, shape: tensor.shape.toReversed() } : tensor,
      ],
      /talker\.codec_head\.weight has shape \[48,1056\], expected \[1056,48\]/,
    ],
    [
      (tensor: NewTensor) => [
        tensor.name === layer ? { ...tensor, data: () => new Uint16Array(tensor.shape[0]!).fill(0x7fc0) } : tensor,
      ],
      /q_norm\.weight holds numbers that are not finite/,
    ],
    [
      (tensor: NewTensor) => (tensor.name.startsWith('speaker_encoder') ? [] : [tensor]),
      /speaker_encoder\.blocks\.0\.conv\.weight is missing/,
    ],
  ] as const) {
    const folder = await copyOfModel()
    await rewrite(join(folder, 'model.safetensors'), change)
    await assertNamed(folder, /model\.safetensors/, ...(says as RegExp[]))
  }
})

test('a codec that does not hear cannot clone', async () => {
  const folder = await copyOfModel()
  await rewrite(join(folder, 'speech_tokenizer', 'model.safetensors'), (tensor) =>
    tensor.name.startsWith('encoder.') ? [] : [tensor],
  )
  await assertNamed(folder, /encoder\.downsample\.conv\.weight is missing/)
})

test("another model's tokenizer", async () => {
  const folder = await copyOfModel()
  edit(join(folder, 'tokenizer_config.json'), (content) => {
    content['added_tokens_decoder'] = { 7: { content: '<|im_start|>' } }
  })
  await assertNamed(folder, /tokenizer of this model/, /<\|im_start\|> the id 7, config\.json 294/)
  const other = await copyOfModel()
  edit(join(other, 'vocab.json'), (content) => {
    content['foreign'] = 151_000
  })
  await assertNamed(other, /vocab\.json has the id 151000, and the text table only 300 rows/)
  const merges = await copyOfModel()
  writeFileSync(join(merges, 'merges.txt'), '#version: 0.2\nq x\n')
  await assertNamed(merges, /merges\.txt makes 1 pieces that are not in vocab\.json, such as "q x"/)
})

test('configurations that contradict themselves or the weights', async () => {
  const codec = 'speech_tokenizer/config.json'
  for (const [name, field, value, says] of [
    ['config.json', 'tts_model_type', 'singing', /tts_model_type/],
    ['config.json', 'talker_config.head_dim', undefined, /talker_config\.head_dim/],
    ['config.json', 'talker_config.num_key_value_heads', 3, /4 heads cannot share 3/],
    ['config.json', 'talker_config.num_hidden_layers', 3, /layers\.2\..* is missing/],
    [codec, 'decoder_config.num_quantizers', 8, /num_quantizers: 8/],
    [codec, 'decoder_config.upsample_rates', [5, 3], /decoder\.decoder\.1\.block\.1/],
    [codec, 'encoder_config.upsampling_ratios', [3, 4], /re-sample by 3,4/],
  ] as const) {
    const folder = await copyOfModel()
    edit(join(folder, name), (content) => setField(content, field.split('.'), value))
    await assertNamed(folder, says)
  }
  const folder = await copyOfModel()
  writeFileSync(join(folder, 'config.json'), '{')
  await assertNamed(folder, /config\.json is not JSON/)
})

test.whole('a made file that was changed behind its back is made again', async () => {
  const [folder, cacheFolder] = [await copyOfModel(), temporaryFolder()]
  await load(folder, cacheFolder)
  const [name] = await quantisedIn(cacheFolder)
  const path = join(cacheFolder, name!)
  const whole = readFileSync(path)
  const spoilt = Buffer.from(whole)
  spoilt[whole.length - 9]! ^= 1
  writeFileSync(path, spoilt)
  assert.is(await load(folder, cacheFolder), undefined)
  assert.equal(readFileSync(path), whole)
})

test.run()
