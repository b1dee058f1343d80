import { randomFillSync } from 'node:crypto'
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { contributed, type ExternalTensor } from '../../src/inference/nodes.ts'
import { createSampler } from '../../src/inference/sampling.ts'
import { isRuntimeInstalled, openSession, type Session } from '../../src/inference/session.ts'
import { createDecoder, type Decoder } from '../../src/runners/decoder.ts'
import { createTextStream } from '../../src/runners/text-stream.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { buildDecoder, type Graph, type WeightForm } from '../helpers/providers/tiny-decoder.ts'
import { median } from './parts/figures.ts'

/** SmolLM2-135M-Instruct's config.json. */
const shape = {
  vocabulary: 49_152,
  hidden: 576,
  intermediate: 1536,
  layers: 30,
  heads: 9,
  keyValueHeads: 3,
  positions: 2048,
}
const sizes = { layers: 30, keyValueHeads: 3, headSize: 64, context: 2048 }
const promptLength = 64
const tokens = 96
const rounds = 3

/**
 * Tokens per second of the decode loop on random 8-bit weights of the real 135M shape, and the loop's cost beyond the
 * session's bare runs: cache, sampling, text. Rounds are interleaved; medians are printed.
 */
export async function bench(): Promise<void> {
  if (!(await isRuntimeInstalled())) {
    process.stdout.write('skipped: onnxruntime-node is not installed\n')
    return
  }
  const folder = temporaryFolder()
  const path = join(folder, 'model.onnx')
  writeFileSync(path, buildDecoder(shape, randomForm(folder)))
  const threads = Math.max(1, availableParallelism() - 1)
  const session = await openSession(path, { name: 'bench', threads })
  const watched = watch(session)
  const decoder = createDecoder(watched.session, sizes)
  await loop(decoder, watched)
  const samples: Sample[] = []
  for (let round = 0; round < rounds; round++) samples.push(await loop(decoder, watched))
  const middle = (field: keyof Sample) => median(samples.map((sample) => sample[field]))
  const [loopMs, runMs] = [middle('wholeMs') / tokens, middle('bareMs') / tokens]
  const [loopCpuMs, runCpuMs] = [middle('wholeCpuMs') / tokens, middle('bareCpuMs') / tokens]
  const line = (name: string, value: string) => process.stdout.write(`${name.padEnd(44)} ${value}\n`)
  line('threads', String(threads))
  line(
    `decode loop, ${tokens} tokens after ${promptLength}`,
    `${(1000 / loopMs).toFixed(1)} tokens/s (${loopMs.toFixed(2)} ms each)`,
  )
  line('bare session runs in it', `${(1000 / runMs).toFixed(1)} tokens/s (${runMs.toFixed(2)} ms each)`)
  line('processor time of the loop, of the runs', `${loopCpuMs.toFixed(2)} ms, ${runCpuMs.toFixed(2)} ms each`)
  line('overhead of the loop, processor time', `${((loopCpuMs / runCpuMs - 1) * 100).toFixed(1)} % (aim: at most 10 %)`)
  line('overhead of the loop, on the clock', `${((loopMs / runMs - 1) * 100).toFixed(1)} %`)
  line('prompt', `${((promptLength * 1000) / middle('prefillMs')).toFixed(0)} tokens/s`)
  await decoder.close()
}

/** Milliseconds: on the clock, and of the processor, which other work on the machine does not stretch. */
interface Sample {
  readonly wholeMs: number
  readonly bareMs: number
  readonly wholeCpuMs: number
  readonly bareCpuMs: number
  readonly prefillMs: number
}

interface Watched {
  readonly session: Session
  /** Milliseconds inside the session's runs since the last reset. */
  spentMs: number
  spentCpuMs: number
}

function watch(session: Session): Watched {
  const watched: Watched = {
    spentMs: 0,
    spentCpuMs: 0,
    session: {
      ...session,
      async run(feeds, into) {
        const [begun, cpu] = [performance.now(), cpuMs()]
        try {
          return await session.run(feeds, into)
        } finally {
          watched.spentMs += performance.now() - begun
          watched.spentCpuMs += cpuMs() - cpu
        }
      },
    },
  }
  return watched
}

/** One answer as the runner makes it: choose, decode to text, let go of the thread, append. */
async function loop(decoder: Decoder, watched: Watched): Promise<Sample> {
  const sampler = createSampler({
    temperature: 0.2,
    topP: 0.9,
    topK: 0,
    repetitionPenalty: 1.1,
    presencePenalty: 0,
    frequencyPenalty: 0,
    seed: 1,
  })
  const stream = createTextStream((ids) => ids.map((id) => ` ${id}`).join(''), ['never'])
  decoder.reset()
  const started = performance.now()
  let scores = await decoder.append(Array.from({ length: promptLength }, (_, index) => (index * 37) % shape.vocabulary))
  const prefillMs = performance.now() - started
  watched.spentMs = 0
  watched.spentCpuMs = 0
  const [begun, cpu] = [performance.now(), cpuMs()]
  for (let count = 0; count < tokens; count++) {
    const id = sampler.choose(scores)
    stream.push(id)
    sampler.add(id, 'answer')
    await new Promise((resolve) => setImmediate(resolve))
    scores = await decoder.append([id])
  }
  return {
    wholeMs: performance.now() - begun,
    bareMs: watched.spentMs,
    wholeCpuMs: cpuMs() - cpu,
    bareCpuMs: watched.spentCpuMs,
    prefillMs,
  }
}

/** Random bytes in a file, as the weights of matrices that are multiplied in 8 bits, like the published exports. */
function randomForm(folder: string): WeightForm {
  const location = 'weights.bin'
  const file = openSync(join(folder, location), 'w')
  const bytes = Buffer.alloc(1 << 20)
  let written = 0
  const grow = (length: number): number => {
    const offset = written
    for (let left = length; left > 0; left -= bytes.length) {
      randomFillSync(bytes)
      written += writeSync(file, bytes, 0, Math.min(left, bytes.length))
    }
    return offset
  }
  const matrix = (graph: Graph, inputs: number, outputs: number) => {
    const length = inputs * outputs
    const tensor: ExternalTensor = { location, offset: grow(length), length, type: 'int8', shape: [inputs, outputs] }
    return graph.external(tensor)
  }
  const form: WeightForm = {
    embed(graph, ids, { vocabulary, hidden }) {
      const rows = graph.node('Gather', [matrix(graph, vocabulary, hidden), ids])
      return graph.multiply(graph.node('Cast', [rows], { to: { int: 1 } }), graph.scalar(1 / 128))
    },
    linear(graph, x, _name, inputs, outputs) {
      const scale = graph.constant('float32', [], Float32Array.of(1 / (73 * Math.sqrt(inputs))))
      return graph.node('DynamicQuantizeMatMul', [x, matrix(graph, inputs, outputs), scale], {}, contributed)
    },
    vector: (graph, _name, size) => graph.constant('float32', [size], new Float32Array(size).fill(1)),
  }
  process.once('exit', () => closeSync(file))
  return form
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
