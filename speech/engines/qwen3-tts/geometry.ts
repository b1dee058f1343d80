/** The tensors that the files of a model must hold, by its configuration. */
import type { ExpectedTensors, TensorFile } from '../../../src/inference/inference.ts'
import type { Codebook } from '../../blocks/residual-vectors.ts'
import { findSeanet, type Seanet } from '../../blocks/seanet.ts'
import type { TransformerShape } from '../../blocks/transformer.ts'
import { checkTensors } from '../neural/model-files.ts'
import type { CodecFile, ModelFile, SpeakerFile } from './configuration.ts'
import { decoderShape, encoderShape, predictorShape, talkerShape } from './layers.ts'

/** The tensors of a model's own file. */
export const tensorNames = {
  textTable: 'talker.model.text_embedding.weight',
  firstCodes: 'talker.model.codec_embedding.weight',
  firstHead: 'talker.codec_head.weight',
  narrowing: 'talker.code_predictor.small_to_mtp_projection.weight',
  /** Entries and logits of code group `group`, from 1. */
  codes: (group: number) => `talker.code_predictor.model.codec_embedding.${group - 1}.weight`,
  head: (group: number) => `talker.code_predictor.lm_head.${group - 1}.weight`,
} as const

/** The codebooks of one half of the codec, for code groups 0 and up, with the projections at their edges. */
export interface CodecBooks {
  readonly first: readonly Codebook[]
  readonly rest: readonly Codebook[]
  readonly projection: (half: 'first' | 'rest') => string
}

/** The tensors of the codebooks with which the codec decodes: one semantic book, and `groups - 1` acoustic ones. */
export function decoderBooks(groups: number): CodecBooks {
  const book = (half: string, index: number): Codebook => ({
    sums: `decoder.quantizer.${half}.vq.layers.${index}._codebook.embedding_sum`,
    counts: `decoder.quantizer.${half}.vq.layers.${index}._codebook.cluster_usage`,
  })
  return {
    first: [book('rvq_first', 0)],
    rest: Array.from({ length: groups - 1 }, (_, index) => book('rvq_rest', index)),
    projection: (half) => `decoder.quantizer.rvq_${half}.output_proj.weight`,
  }
}

/** The tensors of the same codebooks as the codec's encoder names them, for voice cloning. */
export function encoderBooks(groups: number): CodecBooks {
  const place = (half: string) => `encoder.quantizer.${half}_residual_vector_quantizer`
  const book = (half: string, index: number): Codebook => ({
    sums: `${place(half)}.layers.${index}.codebook.embed_sum`,
    counts: `${place(half)}.layers.${index}.codebook.cluster_usage`,
  })
  return {
    first: [book('semantic', 0)],
    rest: Array.from({ length: groups - 1 }, (_, index) => book('acoustic', index)),
    projection: (half) => `${place(half === 'first' ? 'semantic' : 'acoustic')}.input_proj.weight`,
  }
}

/** The convolutions that hear a clip. */
export function findEncoderSeanet(file: TensorFile): Seanet {
  return findSeanet(file.tensors, 'encoder.encoder.layers')
}

/** Throws an AppError that names the file and the tensors that are missing or of another shape. */
export function checkModelFile(file: TensorFile, model: ModelFile): void {
  const what = 'a Qwen3-TTS model of the geometry in its config.json'
  checkTensors(file, { what, expected: modelTensors(model) })
}

/** The same for the codec's file; the half that hears is checked where a model needs it. */
export function checkCodecFile(file: TensorFile, codec: CodecFile, hears: boolean): void {
  const expected = decoderTensors(codec)
  const others: string[] = []
  if (hears) {
    const seanet = findEncoderSeanet(file)
    for (const [name, shape] of encoderTensors(codec, seanet)) expected.set(name, shape)
    others.push(...seanet.problems)
    const ratios = codec.encoder_config.upsampling_ratios.toReversed()
    if (seanet.ratios.join() !== ratios.join())
      others.push(`encoder.encoder.layers re-sample by ${seanet.ratios.join()}, config.json says ${ratios.join()}`)
  }
  checkTensors(file, { what: 'a Qwen3-TTS codec of the geometry in its config.json', expected, others })
}

/** The tensors of a model's own file. */
export function modelTensors(model: ModelFile): ExpectedTensors {
  const { talker_config: talker, speaker_encoder_config: speaker, tts_model_type: type } = model
  const [width, textWidth] = [talker.hidden_size, talker.text_hidden_size]
  const predictor = talker.code_predictor_config
  const expected: ExpectedTensors = new Map<string, readonly number[]>([
    [tensorNames.textTable, [talker.text_vocab_size, textWidth]],
    ['talker.text_projection.linear_fc1.weight', [textWidth, textWidth]],
    ['talker.text_projection.linear_fc1.bias', [textWidth]],
    ['talker.text_projection.linear_fc2.weight', [width, textWidth]],
    ['talker.text_projection.linear_fc2.bias', [width]],
    [tensorNames.firstCodes, [talker.vocab_size, width]],
    [tensorNames.firstHead, [talker.vocab_size, width]],
    ['talker.model.norm.weight', [width]],
    ['talker.code_predictor.model.norm.weight', [predictor.hidden_size]],
  ])
  for (let group = 1; group < talker.num_code_groups; group++) {
    expected.set(tensorNames.codes(group), [predictor.vocab_size, width])
    expected.set(tensorNames.head(group), [predictor.vocab_size, predictor.hidden_size])
  }
  if (predictor.hidden_size !== width) {
    expected.set(tensorNames.narrowing, [predictor.hidden_size, width])
    expected.set(tensorNames.narrowing.replace('weight', 'bias'), [predictor.hidden_size])
  }
  expectLayers(expected, talkerShape(model))
  expectLayers(expected, predictorShape(model))
  if (type === 'base' && speaker) expectSpeaker(expected, speaker)
  return expected
}

/** The tensors of a transformer, by the names of its recipe. */
function expectLayers(expected: ExpectedTensors, shape: TransformerShape): void {
  const { width, feedForward, headSize, heads, keyValueHeads = heads, names, norm } = shape
  for (let layer = 0; layer < shape.layers; layer++) {
    const expect = (name: string | undefined, ...size: number[]) =>
      name !== undefined && expected.set(`${shape.prefix}.layers.${layer}.${name}`, size)
    for (const name of [names.attentionNorm, names.feedForwardNorm]) {
      expect(name, width)
      if (norm === 'layer') expect(name.replace('weight', 'bias'), width)
    }
    if (typeof names.projections !== 'string') {
      expect(names.projections.query, heads * headSize, width)
      expect(names.projections.key, keyValueHeads * headSize, width)
      expect(names.projections.value, keyValueHeads * headSize, width)
    }
    expect(names.queryNorm, headSize)
    expect(names.keyNorm, headSize)
    expect(names.output, width, heads * headSize)
    if (typeof names.gate === 'string') expect(names.gate, feedForward, width)
    expect(names.up, feedForward, width)
    expect(names.down, width, feedForward)
    // A language model has no factors; both halves of the codec have.
    if (names.queryNorm === undefined) {
      expect(names.attentionScale, width)
      expect(names.feedForwardScale, width)
    }
  }
}

function expectConvolution(expected: ExpectedTensors, name: string, ...shape: number[]): void {
  expected.set(`${name}.weight`, shape)
  expected.set(`${name}.bias`, shape.slice(0, 1))
}

function expectSpeaker(expected: ExpectedTensors, speaker: SpeakerFile): void {
  const { enc_channels: channels, enc_kernel_sizes: kernels, enc_res2net_scale: scale, mel_dim: mels } = speaker
  const place = 'speaker_encoder'
  expectConvolution(expected, `${place}.blocks.0.conv`, channels[0]!, mels, kernels[0]!)
  for (let block = 1; block < channels.length - 1; block++) {
    const [width, before, kernel] = [channels[block]!, channels[block - 1]!, kernels[block]!]
    const name = `${place}.blocks.${block}`
    expectConvolution(expected, `${name}.tdnn1.conv`, width, before, 1)
    for (let part = 0; part < scale - 1; part++)
      expectConvolution(expected, `${name}.res2net_block.blocks.${part}.conv`, width / scale, width / scale, kernel)
    expectConvolution(expected, `${name}.tdnn2.conv`, width, width, 1)
    expectConvolution(expected, `${name}.se_block.conv1`, speaker.enc_se_channels, width, 1)
    expectConvolution(expected, `${name}.se_block.conv2`, width, speaker.enc_se_channels, 1)
  }
  const joined = channels.slice(1, -1).reduce((sum, width) => sum + width, 0)
  const last = channels.at(-1)!
  expectConvolution(expected, `${place}.mfa.conv`, last, joined, kernels.at(-1)!)
  expectConvolution(expected, `${place}.asp.tdnn.conv`, speaker.enc_attention_channels, last * 3, 1)
  expectConvolution(expected, `${place}.asp.conv`, last, speaker.enc_attention_channels, 1)
  expectConvolution(expected, `${place}.fc`, speaker.enc_dim, last * 2, 1)
}

function expectBooks(expected: ExpectedTensors, { first, rest }: CodecBooks, entries: number, size: number): void {
  for (const { sums, counts } of [...first, ...rest]) {
    expected.set(sums, [entries, size])
    expected.set(counts, [entries])
  }
}

/** The tensors of the codec's half that makes samples. */
export function decoderTensors(codec: CodecFile): ExpectedTensors {
  const { decoder_config: decoder } = codec
  const { latent_dim: latent, hidden_size: hidden, codebook_dim: dimension } = decoder
  const expected: ExpectedTensors = new Map()
  const books = decoderBooks(decoder.num_quantizers)
  expectBooks(expected, books, decoder.codebook_size, dimension / 2)
  for (const half of ['first', 'rest'] as const) expected.set(books.projection(half), [dimension, dimension / 2, 1])
  expectConvolution(expected, 'decoder.pre_conv.conv', latent, dimension, 3)
  expectConvolution(expected, 'decoder.pre_transformer.input_proj', hidden, latent)
  expectConvolution(expected, 'decoder.pre_transformer.output_proj', latent, hidden)
  expected.set('decoder.pre_transformer.norm.weight', [hidden])
  expectLayers(expected, decoderShape(codec))
  for (const [index, ratio] of decoder.upsampling_ratios.entries()) {
    const block = `decoder.upsample.${index}.1`
    expectConvolution(expected, `decoder.upsample.${index}.0.conv`, latent, latent, ratio)
    expectConvolution(expected, `${block}.dwconv.conv`, latent, 1, 7)
    expected.set(`${block}.norm.weight`, [latent])
    expected.set(`${block}.norm.bias`, [latent])
    expectConvolution(expected, `${block}.pwconv1`, latent * 4, latent)
    expectConvolution(expected, `${block}.pwconv2`, latent, latent * 4)
    expected.set(`${block}.gamma`, [latent])
  }
  expectWave(expected, decoder)
  return expected
}

/** The convolutions that make samples. */
function expectWave(expected: ExpectedTensors, decoder: CodecFile['decoder_config']): void {
  const snake = (name: string, channels: number) => {
    expected.set(`${name}.alpha`, [channels])
    expected.set(`${name}.beta`, [channels])
  }
  let channels = decoder.decoder_dim
  expectConvolution(expected, 'decoder.decoder.0.conv', channels, decoder.latent_dim, 7)
  for (const [index, rate] of decoder.upsample_rates.entries()) {
    const name = `decoder.decoder.${index + 1}.block`
    const half = channels / 2
    snake(`${name}.0`, channels)
    expected.set(`${name}.1.conv.weight`, [channels, half, rate * 2])
    expected.set(`${name}.1.conv.bias`, [half])
    for (const unit of [2, 3, 4]) {
      snake(`${name}.${unit}.act1`, half)
      expectConvolution(expected, `${name}.${unit}.conv1.conv`, half, half, 7)
      snake(`${name}.${unit}.act2`, half)
      expectConvolution(expected, `${name}.${unit}.conv2.conv`, half, half, 1)
    }
    channels = half
  }
  const last = decoder.upsample_rates.length + 1
  snake(`decoder.decoder.${last}`, channels)
  expectConvolution(expected, `decoder.decoder.${last + 1}.conv`, 1, channels, 7)
}

/** The tensors of the half that hears; those of its convolutions are found in a file. */
export function encoderTensors(codec: CodecFile, seanet: Pick<Seanet, 'expected'>): ExpectedTensors {
  const expected: ExpectedTensors = new Map(seanet.expected)
  const { encoder_config: encoder, encoder_valid_num_quantizers: valid } = codec
  const { hidden_size: hidden, codebook_dim: dimension } = encoder
  const books = encoderBooks(valid)
  expectBooks(expected, books, encoder.codebook_size, dimension)
  for (const half of ['first', 'rest'] as const) expected.set(books.projection(half), [dimension, hidden, 1])
  expected.set('encoder.downsample.conv.weight', [hidden, hidden, 4])
  expectLayers(expected, encoderShape(codec))
  return expected
}
