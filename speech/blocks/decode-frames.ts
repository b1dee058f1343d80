import { joinCodes, joinSamples } from '../audio/sample-queue.ts'
import type { Beginning, FrameDecoder, Frames } from './frame-decoder.ts'

/** Frames per call of the decoder: the first at once, later ones in company, since its weights are read once per call. */
const frameGroups = [1, 1, 2, 4]

export interface DecodeOptions {
  readonly beginning?: Beginning | undefined
  /** The most frames per call; those of a large decoder take much memory. */
  readonly together?: number
  /** The first so many frames are decoded, since the others follow them, and not heard; they come in one call with the next. */
  readonly unheard?: number
}

/**
 * Turns frames into samples in [-1, 1], in pieces of whole frames. The first piece comes after the first frame that is heard; of
 * the later ones each is decoded while the frames of the next are made.
 */
export async function* decodeFrames(
  decoder: FrameDecoder,
  frames: AsyncIterable<Frames>,
  { beginning, together: most = 4, unheard = 0 }: DecodeOptions = {},
): AsyncGenerator<Float32Array, void, undefined> {
  // Not awaited: it is decoded while the first frame is made, and a failure shows at the first samples.
  decoder.reset(beginning).catch(() => undefined)
  let group: Frames[] = []
  let groups = 0
  let decoding: Promise<Float32Array> | undefined
  for await (const frame of frames) {
    group.push(frame)
    const wanted = Math.min(most, frameGroups[Math.min(groups, frameGroups.length - 1)]!)
    if (group.length < (groups === 0 ? unheard + wanted : wanted)) continue
    const earlier = decoding
    decoding = decode(group)
    group = []
    groups += 1
    if (earlier) yield await earlier
    if (groups > 1) continue
    yield await decoding
    decoding = undefined
  }
  const rest = group.length > (groups === 0 ? unheard : 0) ? decode(group) : undefined
  if (decoding) yield await decoding
  if (rest) yield await rest

  function decode(together: readonly Frames[]): Promise<Float32Array> {
    const silent = groups === 0 ? unheard / together.length : 0
    const samples = decoder.decode(joinFrames(together)).then((made) => clamp(made.subarray(silent * made.length)))
    // After a cancellation nothing awaits it: its failure must not count as unhandled.
    samples.catch(() => undefined)
    return samples
  }
}

/** Frames as one array. */
export function joinFrames(frames: readonly Frames[]): Frames {
  return frames[0] instanceof Int32Array
    ? joinCodes(frames as readonly Int32Array[])
    : joinSamples(frames as readonly Float32Array[])
}

function clamp(samples: Float32Array): Float32Array {
  return samples.map((sample) => Math.min(1, Math.max(-1, sample)))
}
