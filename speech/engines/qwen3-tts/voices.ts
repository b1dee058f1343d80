/** Voices: presets by name, descriptions, and recordings heard by the speaker encoder and the codec. */
import { AppError } from '../../../src/errors.ts'
import type { TensorData } from '../../../src/inference/inference.ts'
import { resample } from '../../audio/resample.ts'
import { decodeFrames, joinFrames } from '../../blocks/decode-frames.ts'
import type { Beginning, FrameDecoder, Frames } from '../../blocks/frame-decoder.ts'
import { rowsPerFrame } from './codec-encoder.ts'
import type { SpeakerFile } from './configuration.ts'
import { logMel } from './mel.ts'
import type { QwenModel } from './model.ts'
import type { PromptVoice } from './prompt.ts'

/** A recording, with the words spoken in it where they are known. */
export interface Recording {
  readonly samples: Float32Array
  readonly sampleRate: number
  readonly text?: string
}

/** Less is no voice; more makes the vector no better, and with a transcript every chunk slower. */
const [leastSeconds, longestSeconds, longestSpokenSeconds] = [0.5, 60, 30]

/** Frames that the encoder hears at once; more take more memory and no less time. */
const framesPerPiece = 4

/** The voice of a recording. Throws an AppError `invalid` for one that is too short, too long for its transcript, or no sound. */
export async function cloneVoice(model: QwenModel, recording: Recording, signal?: AbortSignal): Promise<PromptVoice> {
  const { samples, sampleRate, text } = recording
  const seconds = samples.length / sampleRate
  const transcript = text?.trim()
  if (!samples.every(Number.isFinite))
    throw new AppError('invalid', 'The reference clip holds numbers that are not finite')
  if (seconds < leastSeconds)
    throw new AppError('invalid', `The clip is shorter than ${leastSeconds} seconds`, {
      details: [`it lasts ${seconds.toFixed(1)} s`],
    })
  if (transcript && seconds > longestSpokenSeconds)
    throw new AppError(
      'invalid',
      `The clip is longer than ${longestSpokenSeconds} seconds, which is too long with a transcript`,
      {
        details: [`it lasts ${seconds.toFixed(1)} s`, 'cut clip and transcript, or leave the transcript out'],
      },
    )
  // Without its words the beginning of a recording is enough.
  const part = samples.subarray(0, Math.ceil(longestSeconds * sampleRate))
  const { speaker_encoder_config: speaker } = model.model
  if (!speaker) throw new AppError('unavailable', 'The installed model cannot clone voices')
  const vector = await speakerVector(model, speaker, resample(part, sampleRate, speaker.sample_rate))
  signal?.throwIfAborted()
  if (!transcript) return { kind: 'clone', vector }
  const clip = resample(part, sampleRate, model.configuration.codec.input_sample_rate)
  return { kind: 'clone', vector, spoken: { transcript, codes: await hear(model, clip, signal) } }
}

function speakerVector(model: QwenModel, speaker: SpeakerFile, clip: Float32Array): Promise<Float32Array> {
  return model.speakerVector(logMel(clip, speaker.mel_dim, speaker.sample_rate))
}

/** The codes of a clip, frame by frame. */
async function hear(model: QwenModel, clip: Float32Array, signal?: AbortSignal): Promise<Int32Array[]> {
  const { samplesPerFrame, codec } = model.configuration
  const groups = codec.encoder_valid_num_quantizers
  const stream = await model.openEncoderStream()
  const size = framesPerPiece * samplesPerFrame
  const frames: Int32Array[] = []
  for (let at = 0; at < clip.length; at += size) {
    signal?.throwIfAborted()
    const data = clip.slice(at, at + size)
    const first: TensorData = { type: 'bool', shape: [1], data: Uint8Array.of(at === 0 ? 1 : 0) }
    const rows = Math.ceil(data.length / (samplesPerFrame / rowsPerFrame))
    const { codes } = await stream.run({ audio: { type: 'float32', shape: [data.length, 1], data }, first }, rows)
    const numbers = Int32Array.from(codes!.data as BigInt64Array, Number)
    for (let frame = 0; frame < numbers.length; frame += groups) frames.push(numbers.slice(frame, frame + groups))
  }
  return frames
}

/** Frames that the decoder takes at once; those of the large models take its memory, and their talker is slower than it. */
function framesTogether({ model }: QwenModel): number {
  return model.tts_model_size === '0b6' ? 2 : 1
}

/** The recording to decode before generated frames, for a continuous sound; undefined for a voice without codes. */
export function beginningOf(model: QwenModel, voice: PromptVoice, key: string): Beginning | undefined {
  if (voice.kind !== 'clone' || !voice.spoken) return undefined
  const { codes } = voice.spoken
  const together = framesTogether(model)
  const pieces: Frames[] = []
  for (let at = 0; at < codes.length; at += together) pieces.push(joinFrames(codes.slice(at, at + together)))
  return { key, pieces }
}

/** Turns frames of codes into samples, in the sound of the voice's recording where its codes are known. */
export function decodeCodes(
  model: QwenModel,
  decoder: FrameDecoder,
  frames: AsyncIterable<Int32Array>,
  beginning: Beginning | undefined,
): AsyncGenerator<Float32Array, void, undefined> {
  return decodeFrames(decoder, frames, { beginning, together: framesTogether(model) })
}
