import type { SpeechAnswer } from './answer.ts'

/** An answer of a speech server, here or over HTTP: its headers, and its body whole or in pieces. */
export interface SpokenAnswer extends Pick<SpeechAnswer, 'headers'> {
  readonly body: Uint8Array | AsyncIterable<Uint8Array>
}

/** The body in pieces. */
export async function* piecesOf({ body }: Pick<SpokenAnswer, 'body'>): AsyncGenerator<Uint8Array> {
  if (body instanceof Uint8Array) yield body
  else yield* body
}

/** How many chunks of the text were spoken, of how many. */
export function countsOf({ headers }: Pick<SpokenAnswer, 'headers'>): readonly [spoken: number, total: number] {
  const [spoken = 1, total = 1] = (headers['x-speech-chunks'] ?? '1/1').split('/').map(Number)
  return [spoken, total]
}

/** Parts of the text in a script or with signs that the engine cannot speak. */
export function skippedOf({ headers }: Pick<SpokenAnswer, 'headers'>): readonly string[] {
  const list = headers['x-speech-skipped'] ?? ''
  return list === '' ? [] : list.split(',').map(decodePiece)
}

function decodePiece(piece: string): string {
  try {
    return decodeURIComponent(piece)
  } catch {
    return piece
  }
}
