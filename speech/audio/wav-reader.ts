import { AppError } from '../../src/errors.ts'

interface WavFormat {
  readonly sampleRate: number
  /** What stands before the samples. */
  readonly header: Buffer
  /** The bytes of the samples; infinite in the header of a stream. */
  readonly dataBytes: number
}

/** The data chunk of a speech server's answer starts within this many bytes. */
const longestHeader = 4096

/** Reads a WAV stream: its format, then its samples. */
export function openWavReader(body: AsyncIterable<Uint8Array>) {
  const source = body[Symbol.asyncIterator]()
  let rest: Buffer = Buffer.alloc(0)
  let opened: Promise<WavFormat> | undefined

  return {
    /** Throws `protocol` unless the stream is WAV with 16-bit mono samples. */
    format(): Promise<WavFormat> {
      opened ??= readHeader()
      return opened
    },
    /** The bytes of the samples, in pieces; what a file holds behind them is left out. */
    async *samples(): AsyncGenerator<Uint8Array> {
      let { dataBytes: left } = await this.format()
      for (let piece: Uint8Array | undefined = rest; piece && left > 0; piece = (await source.next()).value) {
        const part = piece.subarray(0, Math.min(left, piece.length))
        left -= part.length
        if (part.length > 0) yield part
      }
    },
  }

  async function readHeader(): Promise<WavFormat> {
    for (;;) {
      const found = findData(rest)
      if (found) {
        const header = rest.subarray(0, found.start)
        rest = rest.subarray(found.start)
        return { ...found, header }
      }
      const next = await source.next()
      if (next.done || rest.length > longestHeader) throw invalidWav()
      rest = Buffer.concat([rest, next.value])
    }
  }
}

export interface WavSamples {
  /** 16-bit little-endian, mono. */
  readonly samples: Buffer
  readonly sampleRate: number
}

/** Reads a WAV stream to its end. */
export async function collectSamples(body: AsyncIterable<Uint8Array>): Promise<WavSamples> {
  const reader = openWavReader(body)
  const { sampleRate } = await reader.format()
  const pieces: Uint8Array[] = []
  for await (const piece of reader.samples()) pieces.push(piece)
  return { samples: Buffer.concat(pieces), sampleRate }
}

function findData(bytes: Buffer): (Omit<WavFormat, 'header'> & { readonly start: number }) | undefined {
  if (bytes.length < 12) return undefined
  if (bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WAVE') throw invalidWav()
  let sampleRate: number | undefined
  for (let at = 12; at + 8 <= bytes.length; ) {
    const id = bytes.toString('latin1', at, at + 4)
    const size = bytes.readUInt32LE(at + 4)
    if (id === 'data') {
      if (sampleRate === undefined) throw invalidWav()
      // A stream of unknown length states none, or the largest.
      return {
        start: at + 8,
        sampleRate,
        dataBytes: size === 0 || size >= 0x7fff_0000 ? Number.POSITIVE_INFINITY : size,
      }
    }
    if (id === 'fmt ' && at + 24 <= bytes.length) {
      if (bytes.readUInt16LE(at + 10) !== 1 || bytes.readUInt16LE(at + 22) !== 16) throw invalidWav()
      sampleRate = bytes.readUInt32LE(at + 12)
    }
    at += 8 + size + (size % 2)
  }
  return undefined
}

function invalidWav(): AppError {
  return new AppError('protocol', 'Invalid audio from the speech server: expected WAV with 16-bit mono samples')
}
