import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { AppError } from '../../src/errors.ts'
import { type Encode, inBlocks } from './encoding.ts'
import { id3Tag } from './tags.ts'

/** Kilobits a second: speech of one channel and 24,000 Hz has no audible loss. */
const bitrate = 64
/** The samples by which a decoder's output begins later than the encoder's input. */
const delay = 1105
/** Samples below this are silence, of 32,768. */
const silence = 200

/** The part of the WebAssembly API that is used here; TypeScript describes it only together with the browser. */
declare const WebAssembly: { compile(bytes: Uint8Array): Promise<object> }

let program: Promise<object> | undefined

/** Loads LAME, which is compiled once. Throws `unavailable` where its package is missing. */
export async function loadMp3(): Promise<Encode> {
  const { createEncoder } = await import('wasm-media-encoders').catch(notInstalled)
  program ??= compile()
  const lame = await program.catch(notInstalled)
  // It gets ready while the first words are spoken.
  const opening = createEncoder('audio/mpeg', lame as Uint8Array)
  opening.catch(() => {})
  return async function* (samples, { sampleRate, tags }) {
    const encoder = await opening
    encoder.configure({ channels: 1, sampleRate, outputSampleRate: sampleRate as 24_000, bitrate })
    // The encoder owns what it returns until its next call.
    let start: Buffer | undefined = id3Tag(tags)
    let skipped = 0
    for await (const block of inBlocks(samples, 2)) {
      const pcm = toFloats(block)
      // As much of the silence before the text is left out as the format adds.
      const isSilent = (sample: number) => Math.abs(sample) < silence / 32_768
      let first = 0
      while (start && skipped < delay && first < pcm.length && isSilent(pcm[first]!)) {
        first += 1
        skipped += 1
      }
      const bytes = first < pcm.length ? encoder.encode([pcm.subarray(first)]) : new Uint8Array()
      if (bytes.length === 0) continue
      yield start ? Buffer.concat([start, bytes]) : Buffer.from(bytes)
      start = undefined
    }
    const end = Buffer.from(encoder.finalize())
    yield start ? Buffer.concat([start, end]) : end
  }
}

async function compile(): Promise<object> {
  const path = createRequire(import.meta.url).resolve('wasm-media-encoders/wasm/mp3')
  return await WebAssembly.compile(await readFile(path))
}

function notInstalled(cause: unknown): never {
  throw new AppError('unavailable', 'The MP3 encoder is not installed', {
    details: ['install aichat again: the package wasm-media-encoders is missing or damaged'],
    cause,
  })
}

function toFloats(pcm: Buffer): Float32Array {
  return Float32Array.from({ length: pcm.length >> 1 }, (_, index) => pcm.readInt16LE(2 * index) / 32_768)
}
