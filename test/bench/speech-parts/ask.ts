import { request } from 'node:http'

export interface Answer {
  /** Seconds. */
  readonly audio: number
  /** Seconds of it that came first. */
  readonly heard: number
  /** Milliseconds from the request to the first sample. */
  readonly first: number
}

/** Asks a speech server on loopback for a stream, and tells when its first audio comes. */
export function ask(port: number, input: string, voice: string, onFirst: () => void = () => {}): Promise<Answer> {
  const body = JSON.stringify({ input, voice, stream_format: 'audio' })
  const begun = performance.now()
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const asked = request({ port, method: 'POST', path: '/v1/audio/speech', headers }, (response) => {
      let bytes = 0
      let first = 0
      let heard = 0
      response.on('data', (piece: Buffer) => {
        bytes += piece.length
        // The header comes with the first samples; it alone would be no speech.
        if (first > 0 || bytes <= 44) return
        first = performance.now() - begun
        heard = (bytes - 44) / 48_000
        onFirst()
      })
      response.on('end', () => {
        if (response.statusCode === 200) resolve({ audio: (bytes - 44) / 48_000, heard, first })
        else reject(new Error(`status ${response.statusCode}`))
      })
    })
    asked.on('error', reject)
    asked.end(body)
  })
}
