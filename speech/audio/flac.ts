import { type Encode, inBlocks } from './encoding.ts'
import { vorbisComments } from './tags.ts'

/** Samples of a frame: at 24,000 Hz a sixth of a second. */
const blockSize = 4096
/** Rice parameters that the format has. */
const largestParameter = 14

/**
 * FLAC (RFC 9639) of one channel: each frame by the best of the five fixed predictors, its residual in Rice codes. Without
 * the linear prediction of the reference encoder, files of speech are some 5 % larger.
 */
export const encodeFlac: Encode = async function* (samples, { sampleRate, tags, dataBytes }) {
  const info = streamInfo(sampleRate, (dataBytes ?? 0) / 2)
  const comments = vorbisComments(tags)
  const blocks = [blockHeader(0, info.length), info, blockHeader(0x84, comments.length), comments]
  let start: Buffer | undefined = Buffer.concat([Buffer.from('fLaC'), ...blocks])
  let number = 0
  for await (const piece of inBlocks(samples, 2 * blockSize)) {
    const frames: Buffer[] = start ? [start] : []
    start = undefined
    for (let at = 0; at < piece.length; at += 2 * blockSize)
      frames.push(frameOf(piece.subarray(at, at + 2 * blockSize), number++))
    yield Buffer.concat(frames)
  }
}

function blockHeader(type: number, size: number): Buffer {
  const header = Buffer.alloc(4)
  header.writeUInt32BE(size)
  header[0] = type
  return header
}

/** The number of samples is 0 where it is unknown; the digest of the samples is left out. */
function streamInfo(sampleRate: number, samples: number): Buffer {
  const info = Buffer.alloc(34)
  info.writeUInt16BE(blockSize, 0)
  info.writeUInt16BE(blockSize, 2)
  // The rate in 20 bits, one channel in 3, 16 bits a sample in 5, and the number of samples in 36.
  info.writeBigUInt64BE((BigInt(sampleRate) << 44n) | (15n << 36n) | BigInt(samples), 10)
  return info
}

function frameOf(pcm: Buffer, number: number): Buffer {
  const size = pcm.length / 2
  const samples = Int32Array.from({ length: size }, (_, index) => pcm.readInt16LE(2 * index))
  const bits = openBits()
  // One block size for all frames; the rate is that of the stream.
  bits.write(0xfff8, 16)
  bits.write(size === blockSize ? 0xc0 : 0x70, 8)
  bits.write(0x08, 8)
  // The number of the frame, written as UTF-8 writes a sign; a surrogate is none.
  for (const byte of codedNumber(number)) bits.write(byte, 8)
  if (size !== blockSize) bits.write(size - 1, 16)
  bits.write(crc(bits.bytes(), 8, 0x07), 8)
  const { order, residual } = bestPrediction(samples)
  bits.write((8 + order) << 1, 8)
  for (const sample of samples.subarray(0, order)) bits.write(sample & 0xffff, 16)
  const rest = residual.subarray(order)
  const parameter = riceParameter(rest)
  bits.write(0, 6)
  bits.write(parameter, 4)
  for (const value of rest) {
    const folded = value < 0 ? -2 * value - 1 : 2 * value
    for (let zeros = folded >>> parameter; zeros > 0; zeros -= 16) bits.write(0, Math.min(16, zeros))
    bits.write((1 << parameter) | (folded & ((1 << parameter) - 1)), parameter + 1)
  }
  const frame = bits.bytes()
  const end = Buffer.alloc(2)
  end.writeUInt16BE(crc(frame, 16, 0x8005))
  return Buffer.concat([frame, end])
}

function codedNumber(number: number): readonly number[] {
  if (number < 0x80) return [number]
  const tail: number[] = []
  let left = number
  for (let room = 0x3f; left > room; room >>= 1) {
    tail.unshift(0x80 | (left & 0x3f))
    left >>= 6
  }
  return [((0xff00 >> (tail.length + 1)) & 0xff) | left, ...tail]
}

/** Differences of differences, to the order whose values are smallest. */
function bestPrediction(samples: Int32Array) {
  let best = { order: 0, residual: samples, size: sizeOf(samples) }
  let residual = samples
  for (let order = 1; order <= Math.min(4, samples.length - 1); order++) {
    const before = residual
    residual = before.map((value, index) => (index < order ? value : value - before[index - 1]!))
    const size = sizeOf(residual.subarray(order))
    if (size < best.size) best = { order, residual, size }
  }
  return best
}

function sizeOf(values: Int32Array): number {
  return values.reduce((sum, value) => sum + Math.abs(value), 0)
}

/** The parameter by the mean of the folded values, which is near to the best. */
function riceParameter(values: Int32Array): number {
  const mean = (2 * sizeOf(values)) / Math.max(1, values.length)
  return Math.max(0, Math.min(largestParameter, Math.round(Math.log2(Math.max(1, mean * Math.LN2)))))
}

/** Bits in the order of the format, the highest first. */
function openBits() {
  const whole: number[] = []
  let open = 0
  let count = 0
  return {
    /** Writes the lowest `width` bits, 16 at most. */
    write(value: number, width: number) {
      open = (open << width) | value
      count += width
      for (; count >= 8; count -= 8) whole.push((open >>> (count - 8)) & 0xff)
      open &= (1 << count) - 1
    },
    /** All so far, filled with zeros to a byte. */
    bytes: () => Buffer.from(count === 0 ? whole : [...whole, (open << (8 - count)) & 0xff]),
  }
}

function crc(bytes: Uint8Array, width: 8 | 16, polynomial: number): number {
  const top = 1 << (width - 1)
  let sum = 0
  for (const byte of bytes) {
    sum ^= byte << (width - 8)
    for (let bit = 0; bit < 8; bit++) sum = sum & top ? (sum << 1) ^ polynomial : sum << 1
    sum &= 2 * top - 1
  }
  return sum
}
