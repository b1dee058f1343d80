/** How fast a model speaks on this machine, and how much text it therefore gets at a time. */
import type { ChunkLimits } from '../engine.ts'

/** Frames that are timed behind one that warms up. */
const timedFrames = 2

/** Seconds of speech made in a second once it has begun: the language model's pace; codes decode in parallel. */
export async function measurePace(frames: AsyncIterable<unknown>, secondsPerFrame: number): Promise<number> {
  let started = 0
  let count = 0
  for await (const _ of frames) {
    if (count === 0) started = performance.now()
    if (count++ === timedFrames) break
  }
  return (timedFrames * secondsPerFrame * 1000) / (performance.now() - started)
}

/** A text of one request waits this long for a chunk, in seconds: the servers' specification. */
const deadlineSeconds = 30

/** Letters of an alphabet that a second of speech takes. */
const lettersPerSecond = 14

/** Fewer make no sentence. */
const leastCharacters = 60

/**
 * A chunk takes three quarters of the deadline at the measured pace, and never more than `most` characters, which are read
 * well at once. Where even the shortest would take longer, the deadline grows.
 */
export function chunkLimits(pace: number, most: number): ChunkLimits {
  const fitting = Math.floor(deadlineSeconds * 0.75 * pace * lettersPerSecond)
  const characters = Math.max(leastCharacters, Math.min(most, fitting))
  const needed = characters > leastCharacters ? 0 : (2 * characters) / lettersPerSecond / pace
  return { characters, milliseconds: Math.ceil(1000 * Math.max(deadlineSeconds, needed)) }
}
