import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { AppError } from '../../src/errors.ts'
import { type Encode, inBlocks } from './encoding.ts'
import { vorbisComments } from './tags.ts'

/** libopus as `opusscript` compiles it; its own wrapper keeps views of a memory that moves when it grows. */
interface Library {
  readonly HEAPU8: Uint8Array
  readonly HEAPU16: Uint16Array
  _malloc(bytes: number): number
  _free(pointer: number): void
  readonly OpusScriptHandler: {
    new (sampleRate: number, channels: number, application: number): Handler
    destroy_handler(handler: Handler): void
  }
}

interface Handler {
  /** Takes each byte of the samples as 16 bits; returns the bytes of the packet, or a negative error. */
  _encode(input: number, inputBytes: number, output: number, samples: number): number
  _encoder_ctl(request: number, value: number): number
}

/** The rates that Opus has, in Hz. Its times count at the last of them. */
const rates = [8000, 12_000, 16_000, 24_000, 48_000]
const clock = 48_000
/** Samples of the clock in a packet (20 ms), and those before the first sample that is heard, libopus's own delay. */
const packetTicks = 960
const preSkip = 312
/** Bits a second of speech, and the effort of 10: half of the processor time of the usual 9 is inaudible here. */
const bitrate = 32_000
const effort = 5
const application = 2049
const [setBitrate, setComplexity] = [4002, 4010]
const largestPacket = 1276

let library: Library | undefined

/** Loads libopus. Throws `unavailable` where its package is missing, and in its use for a rate that Opus has not. */
export async function loadOpus(): Promise<Encode> {
  try {
    library ??= createRequire(import.meta.url)('opusscript/build/opusscript_native_wasm.js')() as Library
  } catch (cause) {
    throw new AppError('unavailable', 'The Opus encoder is not installed', {
      details: ['install aichat again: the package opusscript is missing or damaged'],
      cause,
    })
  }
  const opus = library
  return async function* (samples, { sampleRate, tags }) {
    if (!rates.includes(sampleRate))
      throw new AppError('unavailable', `Opus has no sample rate of ${sampleRate} Hz`, {
        details: [`it has ${rates.join(', ')} Hz: ask for another format`],
      })
    const ticks = clock / sampleRate
    const frame = packetTicks / ticks
    const encoder = openEncoder(opus, sampleRate)
    const pages = openPages()
    try {
      const comments = Buffer.concat([Buffer.from('OpusTags'), vorbisComments(tags)])
      let start: Buffer | undefined = Buffer.concat([
        pages.write([opusHead(sampleRate)], 0),
        pages.write([comments], 0),
      ])
      let packets = 0
      let heard = 0
      for await (const block of inBlocks(samples, 2 * frame)) {
        heard += block.length / 2
        const isLast = block.length % (2 * frame) !== 0 || block.length === 0
        // The encoder's delay is flushed with silence.
        const rest = isLast ? frame * Math.ceil((block.length / 2 + preSkip / ticks) / frame) : block.length / 2
        const padded = isLast ? Buffer.concat([block], 2 * rest) : block
        const made: Buffer[] = []
        for (let at = 0; at < padded.length; at += 2 * frame)
          made.push(encoder.encode(padded.subarray(at, at + 2 * frame)))
        packets += made.length
        const page = pages.write(made, isLast ? preSkip + heard * ticks : packets * packetTicks, isLast)
        yield start ? Buffer.concat([start, page]) : page
        start = undefined
      }
    } finally {
      encoder.close()
    }
  }
}

function openEncoder(opus: Library, sampleRate: number) {
  const handler = new opus.OpusScriptHandler(sampleRate, 1, application)
  handler._encoder_ctl(setBitrate, bitrate)
  handler._encoder_ctl(setComplexity, effort)
  const input = opus._malloc((4 * sampleRate * packetTicks) / clock)
  const output = opus._malloc(largestPacket)
  return {
    encode(pcm: Uint8Array): Buffer {
      opus.HEAPU16.set(pcm, input / 2)
      const size = handler._encode(input, pcm.length, output, pcm.length / 2)
      if (size < 0) throw new Error(`libopus failed with ${size}`)
      return Buffer.from(opus.HEAPU8.subarray(output, output + size))
    },
    close() {
      opus.OpusScriptHandler.destroy_handler(handler)
      opus._free(input)
      opus._free(output)
    },
  }
}

/** The first packet of a stream (RFC 7845, section 5.1). */
function opusHead(sampleRate: number): Buffer {
  const head = Buffer.alloc(19)
  head.write('OpusHead\u0001\u0001', 'latin1')
  head.writeUInt16LE(preSkip, 10)
  head.writeUInt32LE(sampleRate, 12)
  return head
}

/** Pages of an Ogg stream (RFC 3533). */
function openPages() {
  const serial = randomBytes(4)
  let sequence = 0
  return {
    /** A page with whole packets, 255 segments at most; `ticks` is the time at its end. */
    write(packets: readonly Uint8Array[], ticks: number, isLast = false): Buffer {
      const segments = packets.flatMap(({ length }) => [...Array(Math.floor(length / 255)).fill(255), length % 255])
      const header = Buffer.alloc(27)
      header.write('OggS', 'latin1')
      header[5] = isLast ? 4 : sequence === 0 ? 2 : 0
      header.writeBigInt64LE(BigInt(Math.round(ticks)), 6)
      serial.copy(header, 14)
      header.writeUInt32LE(sequence++, 18)
      header[26] = segments.length
      const page = Buffer.concat([header, Buffer.from(segments), ...packets])
      page.writeUInt32LE(checksum(page), 22)
      return page
    },
  }
}

/** The remainders of all bytes by Ogg's polynomial. */
const remainders = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte << 24
  for (let bit = 0; bit < 8; bit++) value = value < 0 ? (value << 1) ^ 0x04c1_1db7 : value << 1
  return value
})

function checksum(page: Uint8Array): number {
  let sum = 0
  for (const byte of page) sum = (sum << 8) ^ remainders[(sum >>> 24) ^ byte]!
  return sum >>> 0
}
