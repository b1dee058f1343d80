/** How fast the model speaks on this machine, and how much text it therefore gets at a time. */
import type { ChunkLimits } from '../engine.ts'
import { createChooser } from './choice.ts'
import { generateFrames, type Utterance } from './generation.ts'
import type { KyutaiModel, LanguageStreams } from './model.ts'

/** Frames that are timed behind one that warms up. */
const timedFrames = 2

/** Words without sense, more than the timed frames read. */
const words = Array.from({ length: 8 }, () => ({ text: '', tokens: [4], padding: 0 }))

/**
 * Seconds of speech made in a second, once speech has begun. It is the language model's pace; the codec decodes beside it where a
 * second core is there.
 */
export async function measurePace(
  model: KyutaiModel,
  streams: LanguageStreams,
  voice: Pick<Utterance, 'condition' | 'memory'>,
): Promise<number> {
  const chooser = createChooser(model.configuration.model, { greedy: true })
  let started = 0
  let frames = 0
  for await (const _ of generateFrames(model, streams, { ...voice, entries: words }, chooser)) {
    if (frames === 0) started = performance.now()
    if (frames++ === timedFrames) break
  }
  const seconds = (performance.now() - started) / 1000
  const { sample_rate: rate } = model.configuration.codec
  return (timedFrames * model.geometry.samplesPerFrame) / rate / seconds
}

/** A text of one request waits this long for a chunk, in seconds: the servers' specification. */
const deadlineSeconds = 30

/** Letters of an alphabet that a second of speech takes. */
const lettersPerSecond = 14

/** Fewer make no sentence; more are not read better. */
const [leastCharacters, mostCharacters] = [60, 250]

/**
 * A chunk takes three quarters of the deadline at the measured pace. Where even the shortest would take longer, the deadline
 * grows.
 */
export function chunkLimits(pace: number): ChunkLimits {
  const fitting = Math.floor(deadlineSeconds * 0.75 * pace * lettersPerSecond)
  const characters = Math.max(leastCharacters, Math.min(mostCharacters, fitting))
  const needed = characters > leastCharacters ? 0 : (2 * characters) / lettersPerSecond / pace
  return { characters, milliseconds: Math.ceil(1000 * Math.max(deadlineSeconds, needed)) }
}
