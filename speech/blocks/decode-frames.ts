import type { Beginning, FrameDecoder } from './frame-decoder.ts'

/** Frames per call of the decoder: the first at once, later ones in company, since its weights are read once per call. */
const frameGroups = [1, 1, 2, 4]

export interface DecodeOptions<Frames> {
  readonly beginning?: Beginning<Frames> | undefined
  /** The most frames per call; those of a large decoder take much memory. */
  readonly together?: number
}

/**
 * Turns frames into samples in [-1, 1], in pieces of whole frames; `join` makes one array of several frames. The
 * first piece comes after the first frame; of the later ones each is decoded while the frames of the next are made.
 */
export async function* decodeFrames<Frames>(
  decoder: FrameDecoder<Frames>,
  frames: AsyncIterable<Frames>,
  join: (group: readonly Frames[]) => Frames,
  { beginning, together: most = 4 }: DecodeOptions<Frames> = {},
): AsyncGenerator<Float32Array, void, undefined> {
  // Not awaited: it is decoded while the first frame is made, and a failure shows at the first samples.
  decoder.reset(beginning).catch(() => undefined)
  let group: Frames[] = []
  let groups = 0
  let decoding: Promise<Float32Array> | undefined
  for await (const frame of frames) {
    group.push(frame)
    if (group.length < Math.min(most, frameGroups[Math.min(groups, frameGroups.length - 1)]!)) continue
    const earlier = decoding
    decoding = decode(group)
    group = []
    groups += 1
    if (earlier) yield clamp(await earlier)
    if (groups > 1) continue
    yield clamp(await decoding)
    decoding = undefined
  }
  const rest = group.length > 0 ? decode(group) : undefined
  if (decoding) yield clamp(await decoding)
  if (rest) yield clamp(await rest)

  function decode(together: readonly Frames[]): Promise<Float32Array> {
    const samples = decoder.decode(join(together))
    // After a cancellation nothing awaits it: its failure must not count as unhandled.
    samples.catch(() => undefined)
    return samples
  }
}

function clamp(samples: Float32Array): Float32Array {
  return samples.map((sample) => Math.min(1, Math.max(-1, sample)))
}
