import { Histogram, secondBounds } from '../src/metrics/metrics.ts'
import type { ServerId } from './servers/manifest.ts'

/** The work of one speech server in this process. */
export interface SpeechCount {
  /** Requests that are being answered or wait, and chunks and voices that wait for the engine. */
  inside: number
  waiting: number
  /** Requests that found the queue full. */
  refused: number
  /** Chunks that were spoken, and those that failed. */
  spoken: number
  skipped: number
  /** Seconds that a chunk or a voice waited for the engine. */
  readonly waits: Histogram
  /** Seconds that the engine took for a chunk. */
  readonly chunks: Histogram
}

export type SpeechCounts = ReturnType<typeof createSpeechCounts>

/** Counts speech for the metrics of a service. */
export function createSpeechCounts() {
  const servers = new Map<ServerId, SpeechCount>()
  return {
    of(server: ServerId): SpeechCount {
      const known = servers.get(server) ?? newSpeechCount()
      servers.set(server, known)
      return known
    },
    list: (): readonly (readonly [ServerId, SpeechCount])[] => [...servers],
  }
}

/** Counts of a server, all at zero. */
export function newSpeechCount(): SpeechCount {
  return {
    ...{ inside: 0, waiting: 0, refused: 0, spoken: 0, skipped: 0 },
    waits: new Histogram(secondBounds),
    chunks: new Histogram(secondBounds),
  }
}
