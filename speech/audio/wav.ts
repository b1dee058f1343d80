import { AppError } from '../../src/errors.ts'

/** Bytes before the samples of a WAV file. */
export const wavHeaderBytes = 44

/** The largest data size that the 32-bit fields of a WAV file can tell, in whole 16-bit samples. */
const largestData = 0xffff_ffff - wavHeaderBytes - 1

/** The 44 bytes before mono 16-bit PCM; without a size both sizes are 0xFFFFFFFF, read as "until the end". */
export function wavHeader(sampleRate: number, dataBytes?: number): Buffer {
  const header = Buffer.alloc(wavHeaderBytes)
  const data = dataBytes === undefined || dataBytes > largestData ? undefined : dataBytes
  header.write('RIFF', 0, 'latin1')
  header.writeUInt32LE(data === undefined ? 0xffff_ffff : data + wavHeaderBytes - 8, 4)
  header.write('WAVEfmt ', 8, 'latin1')
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(sampleRate, 24)
  header.writeUInt32LE(2 * sampleRate, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36, 'latin1')
  header.writeUInt32LE(data ?? 0xffff_ffff, 40)
  return header
}

/** Samples in [-1, 1] as 16-bit little-endian PCM; others are clipped, and NaN is silence. */
export function toPcm16(samples: Float32Array): Buffer {
  const pcm = Buffer.allocUnsafeSlow(2 * samples.length)
  const view = new DataView(pcm.buffer)
  for (let index = 0; index < samples.length; index++) {
    const sample = Math.max(-1, Math.min(1, samples[index]!)) || 0
    view.setInt16(2 * index, Math.round(sample * 32_767), true)
  }
  return pcm
}

/** One whole WAV file. */
export function writeWav(samples: Float32Array, sampleRate: number): Buffer {
  return Buffer.concat([wavHeader(sampleRate, 2 * samples.length), toPcm16(samples)])
}

/** A recording: mono samples in [-1, 1]. */
export interface Clip {
  readonly samples: Float32Array
  readonly sampleRate: number
}

interface Format {
  readonly kind: 'integer' | 'float'
  readonly channels: number
  readonly sampleRate: number
  readonly bits: number
  /** Bytes of one sample of all channels. */
  readonly frameBytes: number
}

/** No clip needs more; it bounds the memory that a small file of many channels or a huge one can ask for. */
const longestClipSeconds = 600

/**
 * Reads a WAV file (RIFF and RF64; PCM of 8, 16, 24 and 32 bits, float of 32 and 64, plain or extensible): unknown
 * chunks are passed over, channels are averaged, sizes beyond the end mean "until the end". Throws `invalid`, saying
 * with the reason, for anything else.
 */
export function parseWav(bytes: Uint8Array): Clip {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const magic = view.toString('latin1', 0, 4)
  if ((magic !== 'RIFF' && magic !== 'RF64') || view.toString('latin1', 8, 12) !== 'WAVE') throw notWav(bytes)
  let format: Format | undefined
  for (let at = 12; at + 8 <= view.length; ) {
    const id = view.toString('latin1', at, at + 4)
    const size = Math.min(view.readUInt32LE(at + 4), view.length - at - 8)
    const body = view.subarray(at + 8, at + 8 + size)
    if (id === 'fmt ') format = readFormat(body)
    if (id === 'data') {
      if (!format) throw noAudio('its data comes before its format')
      return { samples: readSamples(body, format), sampleRate: format.sampleRate }
    }
    // Chunks are padded to an even size.
    at += 8 + size + (size % 2)
  }
  throw noAudio(format ? 'it holds no data' : 'it holds no format')
}

function readFormat(body: Buffer): Format {
  if (body.length < 16) throw noAudio('its format is cut off')
  const tag = body.readUInt16LE(0)
  // The extensible form carries the real tag in the first two bytes of its GUID.
  const real = tag === 0xfffe && body.length >= 26 ? body.readUInt16LE(24) : tag
  const channels = body.readUInt16LE(2)
  const sampleRate = body.readUInt32LE(4)
  const bits = body.readUInt16LE(14)
  const kind = real === 1 ? 'integer' : real === 3 ? 'float' : undefined
  if (!kind) throw noAudio(`its coding ${real} is neither PCM nor float`)
  if (!(kind === 'integer' ? [8, 16, 24, 32] : [32, 64]).includes(bits))
    throw noAudio(`${bits}-bit ${kind === 'integer' ? 'PCM' : 'float'} is not supported`)
  if (channels < 1 || channels > 32) throw noAudio(`it has ${channels} channels`)
  if (sampleRate < 4000 || sampleRate > 384_000) throw noAudio(`its sample rate is ${sampleRate} Hz`)
  return { kind, channels, sampleRate, bits, frameBytes: (channels * bits) / 8 }
}

function readSamples(body: Buffer, format: Format): Float32Array {
  const frames = Math.floor(body.length / format.frameBytes)
  if (frames === 0) throw noAudio('it holds no samples')
  if (frames > longestClipSeconds * format.sampleRate)
    throw new AppError('invalid', `The clip is longer than ${longestClipSeconds / 60} minutes`)
  const read = sampleReader(body, format)
  const width = format.bits / 8
  const samples = new Float32Array(frames)
  for (let frame = 0; frame < frames; frame++) {
    let sum = 0
    for (let channel = 0; channel < format.channels; channel++) sum += read(frame * format.frameBytes + channel * width)
    const mean = sum / format.channels
    samples[frame] = Number.isFinite(mean) ? Math.max(-1, Math.min(1, mean)) : 0
  }
  return samples
}

function sampleReader(body: Buffer, { kind, bits }: Format): (at: number) => number {
  if (kind === 'float') return bits === 32 ? (at) => body.readFloatLE(at) : (at) => body.readDoubleLE(at)
  // Eight-bit PCM is the one unsigned form.
  if (bits === 8) return (at) => (body[at]! - 128) / 128
  const scale = 2 ** (bits - 1)
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength)
  if (bits === 16) return (at) => view.getInt16(at, true) / scale
  return (at) => body.readIntLE(at, bits / 8) / scale
}

function notWav(bytes: Uint8Array): AppError {
  const other = otherRecording(bytes)
  if (!other) return noAudio('it does not start as a WAV file does')
  return new AppError('invalid', `Invalid clip: ${other.name} is not decoded here, only WAV`, {
    details: [other.advice],
  })
}

function noAudio(reason: string): AppError {
  return new AppError('invalid', 'Invalid clip: not a WAV recording', {
    details: [`${reason}; send RIFF/WAVE with PCM or float samples`],
  })
}

/** The kinds of recording that people have and that are not WAV, by their first bytes: refused by name, with the way to convert them. */

interface Kind {
  readonly name: string
  readonly extension: string
  /** The first 12 bytes in Latin 1. */
  readonly start: RegExp
}

const kinds: readonly Kind[] = [
  { name: 'FLAC', extension: 'flac', start: /^fLaC/s },
  // A tag in front, or the sync word of a frame: MPEG 1, 2 or 2.5, layer III.
  { name: 'MP3', extension: 'mp3', start: /^(?:ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb])/s },
  { name: 'AAC', extension: 'aac', start: /^\xff[\xf0\xf1\xf8\xf9]/s },
  { name: 'Ogg', extension: 'ogg', start: /^OggS/s },
  { name: 'MPEG-4', extension: 'm4a', start: /^.{4}ftyp/s },
  { name: 'WebM', extension: 'webm', start: /^\x1aE\xdf\xa3/s },
  { name: 'AIFF', extension: 'aiff', start: /^FORM.{4}AIF[FC]/s },
]

/** The kind of a recording that is not WAV; undefined for bytes that begin as none of them. */
function otherRecording(bytes: Uint8Array): { readonly name: string; readonly advice: string } | undefined {
  const start = Buffer.from(bytes.subarray(0, 12)).toString('latin1')
  const kind = kinds.find((each) => each.start.test(start))
  if (!kind) return undefined
  return { name: kind.name, advice: `convert it: ffmpeg -i clip.${kind.extension} clip.wav` }
}
