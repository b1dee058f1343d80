/** Bytes of the header of a WAV file of 16-bit samples. */
const headerBytes = 44

/** A WAV file of one channel with 16 bits a sample. */
export function wavOf(pieces: readonly Uint8Array<ArrayBuffer>[], sampleRate: number): Blob {
  const data = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const header = new DataView(new ArrayBuffer(headerBytes))
  const text = (at: number, letters: string) => {
    for (let index = 0; index < letters.length; index++) header.setUint8(at + index, letters.charCodeAt(index))
  }
  text(0, 'RIFF')
  header.setUint32(4, data + headerBytes - 8, true)
  text(8, 'WAVEfmt ')
  header.setUint32(16, 16, true)
  header.setUint16(20, 1, true)
  header.setUint16(22, 1, true)
  header.setUint32(24, sampleRate, true)
  header.setUint32(28, 2 * sampleRate, true)
  header.setUint16(32, 2, true)
  header.setUint16(34, 16, true)
  text(36, 'data')
  header.setUint32(40, data, true)
  return new Blob([header, ...pieces], { type: 'audio/wav' })
}

/** Samples from -1 to 1 as bytes of 16 bits. */
export function toPcm16(samples: Float32Array): Uint8Array<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(2 * samples.length))
  for (let at = 0; at < samples.length; at++)
    view.setInt16(2 * at, Math.round(Math.max(-1, Math.min(1, samples[at]!)) * 32_767), true)
  return new Uint8Array(view.buffer)
}

/** Bytes of 16-bit samples as numbers from -1 to 1. */
export function fromPcm16(bytes: Uint8Array): Float32Array<ArrayBuffer> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const samples = new Float32Array(bytes.length >> 1)
  for (let at = 0; at < samples.length; at++) samples[at] = view.getInt16(2 * at, true) / 32_768
  return samples
}

/** The header of a streamed WAV file, once its bytes are there: the rate of its samples, and where they begin. */
export function readHeader(bytes: Uint8Array): { readonly sampleRate: number; readonly start: number } | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let sampleRate = 0
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = String.fromCharCode(...bytes.subarray(at, at + 4))
    if (name === 'data') return { sampleRate, start: at + 8 }
    if (name === 'fmt ' && at + 16 <= bytes.length) sampleRate = view.getUint32(at + 12, true)
    at += 8 + view.getUint32(at + 4, true)
  }
  return undefined
}
