/** How fast a model speaks on this machine, and how much text it therefore gets at a time. */
import type { ChunkLimits } from '../engine.ts'
import type { QwenModel, TalkerStreams } from './model.ts'

/** Frames that are timed behind one that warms up. */
const timedFrames = 2

/**
 * Seconds of speech made in a second, measured on a prompt of one row. It is the language model's pace; the codec decodes
 * beside it where a second core is there.
 */
export async function measurePace(model: QwenModel, { talker, predictor }: TalkerStreams): Promise<number> {
  const { samplesPerFrame, codec } = model.configuration
  const width = model.model.talker_config.hidden_size
  const groups = model.model.talker_config.num_code_groups
  const decoder = model.openDecoder()
  const row = model.codeRow(0)
  const rows = (count: number) => ({
    rows: {
      type: 'float32' as const,
      shape: [count, width],
      data: new Float32Array(count * width).map((_, i) => row[i % width]!),
    },
  })
  let started = 0
  talker.reset()
  for (let frame = 0; frame <= timedFrames; frame++) {
    if (frame === 1) started = performance.now()
    const decoding = decoder.decode(new Int32Array(groups))
    await talker.run(rows(1), 1)
    predictor.reset()
    for (let group = 1; group < groups; group++) {
      const count = group === 1 ? 2 : 1
      const { hidden } = await predictor.run(rows(count), count)
      await model.codeScores(
        group,
        (hidden!.data as Float32Array).slice(-model.model.talker_config.code_predictor_config.hidden_size),
      )
    }
    await decoding
  }
  const seconds = (performance.now() - started) / 1000
  return (timedFrames * samplesPerFrame) / codec.output_sample_rate / seconds
}

/** A text of one request waits this long for a chunk, in seconds: the servers' specification. */
const deadlineSeconds = 30

/** Letters of an alphabet that a second of speech takes. */
const lettersPerSecond = 14

/** Fewer make no sentence. */
const leastCharacters = 60

/**
 * A chunk takes three quarters of the deadline at the measured pace, and never more characters than are read well at once. Where even
 * the shortest would take longer, the deadline grows.
 */
export function chunkLimits(pace: number, isLarge: boolean): ChunkLimits {
  const most = isLarge ? 150 : 250
  const fitting = Math.floor(deadlineSeconds * 0.75 * pace * lettersPerSecond)
  const characters = Math.max(leastCharacters, Math.min(most, fitting))
  const needed = characters > leastCharacters ? 0 : (2 * characters) / lettersPerSecond / pace
  return { characters, milliseconds: Math.ceil(1000 * Math.max(deadlineSeconds, needed)) }
}
