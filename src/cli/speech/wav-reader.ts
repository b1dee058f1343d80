import { completeHeader } from '../../../speech/audio/wav.ts'
import { AppError } from '../../errors.ts'

/** Reads a WAV stream: its format, then its samples. */
export interface WavReader {
  /** Throws `protocol` unless the stream is WAV with 16-bit mono samples. */
  format(): Promise<WavFormat>
  /** The bytes behind the header, in pieces. */
  samples(): AsyncGenerator<Uint8Array>
}

export interface WavFormat {
  readonly sampleRate: number
  /** The bytes before the samples. */
  readonly header: Buffer
}

/** The data chunk of a speech server's answer starts within this many bytes. */
const longestHeader = 4096

export function openWavReader(body: AsyncIterable<Uint8Array>): WavReader {
  const source = body[Symbol.asyncIterator]()
  let rest: Buffer = Buffer.alloc(0)
  let opened: Promise<WavFormat> | undefined

  return {
    format() {
      opened ??= readHeader()
      return opened
    },
    async *samples() {
      await this.format()
      if (rest.length > 0) yield rest
      for (let next = await source.next(); !next.done; next = await source.next()) yield next.value
    },
  }

  async function readHeader(): Promise<WavFormat> {
    for (;;) {
      const found = findData(rest)
      if (found) {
        const header = rest.subarray(0, found.start)
        rest = rest.subarray(found.start)
        return { sampleRate: found.sampleRate, header }
      }
      const next = await source.next()
      if (next.done || rest.length > longestHeader) throw invalidWav()
      rest = Buffer.concat([rest, next.value])
    }
  }
}

/** Reads a whole WAV file; the header of one that was streamed gets its sizes. */
export async function collectWav(
  body: AsyncIterable<Uint8Array>,
): Promise<{ readonly wav: Buffer; readonly samples: Buffer; readonly sampleRate: number }> {
  const reader = openWavReader(body)
  const { header, sampleRate } = await reader.format()
  const pieces: Uint8Array[] = [header]
  for await (const piece of reader.samples()) pieces.push(piece)
  const wav = completeHeader(Buffer.concat(pieces), header.length)
  return { wav, samples: wav.subarray(header.length), sampleRate }
}

function findData(bytes: Buffer): { readonly start: number; readonly sampleRate: number } | undefined {
  if (bytes.length < 12) return undefined
  if (bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WAVE') throw invalidWav()
  let sampleRate: number | undefined
  for (let at = 12; at + 8 <= bytes.length; ) {
    const id = bytes.toString('latin1', at, at + 4)
    const size = bytes.readUInt32LE(at + 4)
    if (id === 'data') {
      if (sampleRate === undefined) throw invalidWav()
      return { start: at + 8, sampleRate }
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
