import { setImmediate } from 'node:timers/promises'
import { joinSamples } from './sample-queue.ts'

/** Seconds between two frames of the output, and how far a frame is moved to fit: more than a period of the lowest voice, 80 Hz. */
const [hopSeconds, searchSeconds] = [0.02, 0.0125]
/** Frames that are made in one go: some 10 ms of work. */
const framesAtOnce = 20

/** The least and the largest speed; OpenAI's bounds. */
export const speeds = { least: 0.25, most: 4 } as const

/**
 * Speaks faster (above 1) or slower at the same pitch: WSOLA (Verhelst and Roelands, "An overlap-add technique based on waveform
 * similarity", ICASSP 1993). Each frame is taken near its place in the input, where it continues the frame before best, and the
 * two are cross-faded. Works on mono samples piece by piece; ⌊samples / speed⌉ samples come out.
 */
export async function* changeSpeed(
  pieces: AsyncIterable<Float32Array>,
  sampleRate: number,
  speed: number,
): AsyncGenerator<Float32Array> {
  if (speed === 1) return yield* pieces
  const stretch = createStretch(sampleRate, speed)
  for await (const piece of pieces) {
    stretch.add(piece)
    yield* frames(stretch.hasNext)
  }
  const rest = stretch.finish()
  yield* frames(() => rest.left() > 0)

  async function* frames(hasNext: () => boolean): AsyncGenerator<Float32Array> {
    while (hasNext()) {
      const made: Float32Array[] = []
      while (made.length < framesAtOnce && hasNext()) made.push(stretch.next())
      yield joinSamples(made)
      await setImmediate()
    }
  }
}

function createStretch(sampleRate: number, speed: number) {
  const hop = Math.round(hopSeconds * sampleRate)
  const search = Math.round(searchSeconds * sampleRate)
  /** Every so many samples are compared: 8,000 in a second tell the voice's periods apart. */
  const stride = Math.max(1, Math.floor(sampleRate / 8000))
  const fadeIn = Float32Array.from({ length: hop }, (_, at) => 0.5 - 0.5 * Math.cos((Math.PI * (at + 0.5)) / hop))
  /** The input from sample `from` on; earlier samples are not needed any more. */
  let input: Float32Array = new Float32Array(0)
  let from = 0
  /** Samples that the output will have; known at the end. */
  let length = Number.POSITIVE_INFINITY
  let frame = 0
  /** Where the frame before would go on in the input. */
  let next = 0

  /** The frame's place in the input, before it is moved. */
  const place = () => Math.round(frame * hop * speed)
  const left = () => length - frame * hop

  return {
    left,
    add(samples: Float32Array) {
      input = joinSamples([input, samples])
    },
    /** Whether the input has all that the next frame may need. */
    hasNext: () =>
      from + input.length >= Math.max(place() + search + hop, next + hop, Math.ceil((frame + 1) * hop * speed)),
    /** No more input comes: what it lacks is silence. */
    finish() {
      length = Math.round((from + input.length) / speed)
      input = joinSamples([input, new Float32Array(search + 2 * hop + 1)])
      return { left }
    },
    /** The next `hop` samples, fewer at the end. */
    next(): Float32Array {
      const best = bestPlace(next - from, Math.max(0, place() - search - from), place() + search - from)
      const made = fadeIn.map((gain, at) => input[next - from + at]! * (1 - gain) + input[best + at]! * gain)
      const taken = made.subarray(0, Math.min(hop, left()))
      next = from + best + hop
      frame += 1
      const unneeded = Math.max(0, Math.min(next, place() - search) - from)
      input = input.subarray(unneeded)
      from += unneeded
      return taken
    },
  }

  /** The place from `first` to `last` whose samples are most like those at `wanted`: the largest normalised correlation. */
  function bestPlace(wanted: number, first: number, last: number): number {
    let energy = 0
    for (let at = first; at < first + hop; at++) energy += input[at]! ** 2
    let [best, most] = [first, Number.NEGATIVE_INFINITY]
    for (let start = first; start <= last; start++) {
      let product = 0
      for (let at = 0; at < hop; at += stride) product += input[wanted + at]! * input[start + at]!
      const likeness = product / Math.sqrt(Math.max(energy, 1e-9))
      if (likeness > most) [best, most] = [start, likeness]
      energy += input[start + hop]! ** 2 - input[start]! ** 2
    }
    return best
  }
}
