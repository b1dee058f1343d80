import type { SpeechRequest, WordTime } from './engines/engine.ts'
import type { Pace } from './pace.ts'

/** One chunk, spoken once. */
export interface Take {
  readonly text: string
  readonly pieces: readonly Float32Array[]
  readonly words: readonly WordTime[]
  readonly seconds: number
}

export interface TakeParts {
  /** Speaks a chunk. */
  record(attempt: number): Promise<Take>
  readonly pace: Pace
  /** Called when a chunk was spoken again. */
  onReroll(): void
}

/**
 * Returns the take or, where its length is far from the expected one, the better of it and a second one with another
 * seed. A second try that fails leaves the first.
 */
export async function betterTake(take: Take, { record, pace, onReroll }: TakeParts): Promise<Take> {
  if (!pace.isFarOff(take.text, take.seconds)) return take
  onReroll()
  const other = await record(1).catch(() => undefined)
  if (!other) return take
  return pace.distance(other.text, other.seconds) < pace.distance(take.text, take.seconds) ? other : take
}

/** The seed of a try at a chunk: another for each, and the same in each answer to an equal request. */
export function seedOf(request: Pick<SpeechRequest, 'seed'>, chunk: number, attempt: number): number | undefined {
  if (request.seed === undefined) return undefined
  return (request.seed + Math.imul(chunk, 0x9e37_79b9) + Math.imul(attempt, 0x85eb_ca6b)) >>> 0
}
