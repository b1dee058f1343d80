/** The tensors that the files of a model must hold, by its configuration. */
import type { ExpectedTensors, TensorFile } from '../../../src/inference/inference.ts'
import { type CodecBooks, codecBooks } from '../../blocks/residual-vectors.ts'
import { findSeanet, type Seanet } from '../../blocks/seanet.ts'
import { readData } from '../../shared/data.ts'
import { checkTensors, expectBooks, expectLayers, expectTensors, type TensorTable } from '../neural/model-files.ts'
import type { CodecFile, ModelFile, SpeakerFile } from './configuration.ts'
import { decoderShape, encoderShape, predictorShape, talkerShape } from './layers.ts'

type Table =
  | 'model'
  | 'group'
  | 'narrowing'
  | 'speaker'
  | 'speakerBlock'
  | 'speakerPart'
  | 'decoder'
  | 'upsample'
  | 'waveBlock'
  | 'waveUnit'
  | 'waveSnake'
  | 'waveEnd'
  | 'encoder'
const tables = readData<Readonly<Record<Table, TensorTable>>>('engines/qwen3-tts/tensors.json')

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

/** The tensors of the codebooks with which the codec decodes: one semantic book, and `groups - 1` acoustic ones. */
export function decoderBooks(groups: number): CodecBooks {
  const place = 'decoder.quantizer.rvq'
  return codecBooks(groups, { first: `${place}_first`, rest: `${place}_rest` }, 'output_proj')
}

/** The tensors of the same codebooks as the codec's encoder names them, for voice cloning. */
export function encoderBooks(groups: number): CodecBooks {
  const place = (half: string) => `encoder.quantizer.${half}_residual_vector_quantizer`
  const names = { layers: 'layers', sums: 'codebook.embed_sum', counts: 'codebook.cluster_usage' }
  return codecBooks(groups, { first: place('semantic'), rest: place('acoustic') }, 'input_proj', names)
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
  const { code_predictor_config: predictor } = talker
  const sizes = {
    ...{ width: talker.hidden_size, codes: talker.vocab_size },
    ...{ textWidth: talker.text_hidden_size, textRows: talker.text_vocab_size },
    ...{ narrow: predictor.hidden_size, groupCodes: predictor.vocab_size },
  }
  const expected: ExpectedTensors = new Map()
  expectTensors(expected, tables.model, sizes)
  for (let group = 0; group < talker.num_code_groups - 1; group++) expectTensors(expected, tables.group, sizes, group)
  if (sizes.narrow !== sizes.width) expectTensors(expected, tables.narrowing, sizes)
  expectLayers(expected, talkerShape(model), false)
  expectLayers(expected, predictorShape(model), false)
  if (type === 'base' && speaker) expectSpeaker(expected, speaker)
  return expected
}

function expectSpeaker(expected: ExpectedTensors, speaker: SpeakerFile): void {
  const { enc_channels: channels, enc_kernel_sizes: kernels, enc_res2net_scale: scale } = speaker
  const last = channels.at(-1)!
  expectTensors(expected, tables.speaker, {
    ...{ bands: speaker.mel_dim, first: channels[0]!, kernel: kernels[0]! },
    ...{ last, twice: last * 2, statistics: last * 3, lastKernel: kernels.at(-1)! },
    ...{ attention: speaker.enc_attention_channels, size: speaker.enc_dim },
    joined: channels.slice(1, -1).reduce((sum, width) => sum + width, 0),
  })
  for (let block = 1; block < channels.length - 1; block++) {
    const [width, before, kernel] = [channels[block]!, channels[block - 1]!, kernels[block]!]
    expectTensors(expected, tables.speakerBlock, { width, before, squeezed: speaker.enc_se_channels }, block)
    for (let part = 0; part < scale - 1; part++)
      expectTensors(expected, tables.speakerPart, { part: width / scale, kernel }, block, part)
  }
}

/** The tensors of the codec's half that makes samples. */
export function decoderTensors(codec: CodecFile): ExpectedTensors {
  const { decoder_config: decoder } = codec
  const { latent_dim: latent, codebook_dim: dimension, upsample_rates: rates } = decoder
  const expected: ExpectedTensors = new Map()
  const books = decoderBooks(decoder.num_quantizers)
  expectBooks(expected, books, [decoder.codebook_size, dimension / 2], [dimension, dimension / 2])
  expectTensors(expected, tables.decoder, { latent, dimension, hidden: decoder.hidden_size, wave: decoder.decoder_dim })
  expectLayers(expected, decoderShape(codec), true)
  for (const [index, ratio] of decoder.upsampling_ratios.entries())
    expectTensors(expected, tables.upsample, { latent, inner: latent * 4, ratio }, index)
  let channels = decoder.decoder_dim
  for (const [index, rate] of rates.entries()) {
    const half = channels / 2
    expectTensors(expected, tables.waveBlock, { channels, half, kernel: rate * 2 }, index + 1)
    for (const unit of [2, 3, 4]) expectTensors(expected, tables.waveUnit, { half }, index + 1, unit)
    channels = half
  }
  expectTensors(expected, tables.waveSnake, { channels }, rates.length + 1)
  expectTensors(expected, tables.waveEnd, { channels }, rates.length + 2)
  return expected
}

/** The tensors of the half that hears; those of its convolutions are found in a file. */
export function encoderTensors(codec: CodecFile, seanet: Pick<Seanet, 'expected'>): ExpectedTensors {
  const expected: ExpectedTensors = new Map(seanet.expected)
  const { encoder_config: encoder, encoder_valid_num_quantizers: valid } = codec
  const { hidden_size: hidden, codebook_dim: dimension } = encoder
  const books = encoderBooks(valid)
  expectBooks(expected, books, [encoder.codebook_size, dimension], [dimension, hidden])
  expectTensors(expected, tables.encoder, { hidden })
  expectLayers(expected, encoderShape(codec), true)
  return expected
}
