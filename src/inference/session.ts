/** The only importer of onnxruntime-node: sessions over models in memory or on disk, opened when the first one is needed. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { InferenceSession, OnnxValue } from 'onnxruntime-node'
import { AppError } from '../errors.ts'

type Runtime = typeof import('onnxruntime-node')

/** Numbers on their way into or out of a session, with their dimensions. */
export type TensorData =
  | { readonly type: 'float32'; readonly shape: readonly number[]; readonly data: Float32Array }
  | { readonly type: 'int64'; readonly shape: readonly number[]; readonly data: BigInt64Array }
  | { readonly type: 'int32'; readonly shape: readonly number[]; readonly data: Int32Array }
  | { readonly type: 'uint8'; readonly shape: readonly number[]; readonly data: Uint8Array }
  | { readonly type: 'bool'; readonly shape: readonly number[]; readonly data: Uint8Array }

export type Tensors = Readonly<Record<string, TensorData>>

/** 32-bit numbers with their dimensions. */
export function floats(shape: readonly number[], data: Float32Array = new Float32Array()): TensorData {
  return { type: 'float32', shape, data }
}

export interface SessionOptions {
  readonly name: string
  /** Where the files lie that a model in memory points to. */
  readonly weightsFolder?: string
  /** The threads of one run. Default: 1. */
  readonly threads?: number
  /** Gives memory back after each run, where that of the largest run is worth more than the time to ask for it again. */
  readonly frugal?: boolean
}

export interface Session {
  readonly inputs: readonly string[]
  readonly outputs: readonly string[]
  /** Computes the outputs while the event loop waits. An output named in `into` is written into that array. */
  run(feeds: Tensors, into?: Tensors): Promise<Record<string, TensorData>>
  close(): Promise<void>
}

/** Opens a session on a model in memory or on disk. Throws `unavailable` without a runtime, `invalid` for the model. */
export async function openSession(model: Uint8Array | string, options: SessionOptions): Promise<Session> {
  const runtime = await loadRuntime()
  const settings: InferenceSession.SessionOptions = {
    executionProviders: ['cpu'],
    // Measured on two cores: a second thread brings nothing for one row, and threads that spin cost three to five times the time.
    intraOpNumThreads: options.threads ?? 1,
    interOpNumThreads: 1,
    ...(options.frugal && { enableCpuMemArena: false, enableMemPattern: false }),
    graphOptimizationLevel: 'all',
    logSeverityLevel: 3,
    extra: {
      session: {
        intra_op: { allow_spinning: '0' },
        x64quantprecision: multipliesExactly() ? '0' : '1',
        ...(options.weightsFolder && { model_external_initializers_file_folder_path: options.weightsFolder }),
      },
    },
  }
  try {
    const create = runtime.InferenceSession.create
    const session = typeof model === 'string' ? await create(model, settings) : await create(model, settings)
    return wrap(session, runtime)
  } catch (thrown) {
    throw new AppError('invalid', `The model ${options.name} could not be opened: ${firstLine(thrown)}`, {
      cause: thrown,
    })
  }
}

/** Throws `unavailable` with advice where neural models cannot run on this installation. */
export async function requireRuntime(): Promise<void> {
  await loadRuntime()
}

/** Whether neural models can run on this installation. */
export async function isRuntimeInstalled(): Promise<boolean> {
  return loadRuntime().then(
    () => true,
    () => false,
  )
}

/** The same at once and without loading it: whether a library for this platform is there. */
export function isRuntimePresent(): boolean {
  return places.some((place) => {
    try {
      const library = join(dirname(require.resolve(place)), '..', 'bin', 'napi-v6', process.platform, process.arch)
      return existsSync(library)
    } catch {
      return false
    }
  })
}

/** Advice where the runtime is not there or does not load. */
export function runtimeAdvice(): string {
  if (existsSync(fileURLToPath(new URL('package-lock.json', import.meta.resolve('#package')))))
    return 'run `npm start` once in the folder of aichat, which puts it there'
  if (published.includes(`${process.platform}-${process.arch}`))
    return 'reinstall aichat: its package holds the runtime'
  return `the package of aichat holds it for ${published.join(', ')}; here run \`npm install -g onnxruntime-node\``
}

/** The platforms of `publishedPlatforms` in bin/runtime.mjs. */
const published = ['linux-x64', 'linux-arm64', 'darwin-arm64']

/** The runtime of our package, and one that was installed next to it, for other platforms. */
const places = ['#onnxruntime', 'onnxruntime-node'] as const

const require = createRequire(import.meta.url)
let loaded: Promise<Runtime> | undefined

/** Loading takes 30 ms, so that it waits for the first model. */
function loadRuntime(): Promise<Runtime> {
  const [own, beside] = places
  loaded ??= import(own)
    .catch((thrown: unknown) => import(beside).catch(() => Promise.reject(thrown)))
    .catch((thrown: unknown) => {
      loaded = undefined
      throw new AppError('unavailable', 'The neural runtime (onnxruntime-node) does not load here', {
        details: [runtimeAdvice(), firstLine(thrown)],
        cause: thrown,
      })
    })
  return loaded
}

function wrap(session: InferenceSession, { Tensor }: Runtime): Session {
  return { inputs: session.inputNames, outputs: session.outputNames, run, close: () => session.release() }

  async function run(feeds: Tensors, into: Tensors = {}): Promise<Record<string, TensorData>> {
    const fetches: Record<string, OnnxValue | null> = {}
    for (const name of session.outputNames) fetches[name] = into[name] ? toTensor(into[name]) : null
    const inputs: Record<string, OnnxValue> = {}
    for (const [name, tensor] of Object.entries(feeds)) inputs[name] = toTensor(tensor)
    const results = await session.run(inputs, fetches)
    const outputs: Record<string, TensorData> = {}
    for (const [name, { type, dims, data }] of Object.entries(results))
      outputs[name] = { type, shape: dims, data } as TensorData
    return outputs
  }

  function toTensor({ type, data, shape }: TensorData): OnnxValue {
    return new Tensor(type, data, shape)
  }
}

/** Whether 8-bit products are summed without overflow, else (older x64, or unknown) the slower way is asked for. */
function multipliesExactly(): boolean {
  if (process.arch !== 'x64') return true
  try {
    return /\bavx(512)?_vnni\b/.test(readFileSync('/proc/cpuinfo', 'utf8'))
  } catch {
    return false
  }
}

function firstLine(thrown: unknown): string {
  return String(thrown instanceof Error ? thrown.message : thrown).split('\n')[0]!
}
