/**
 * The codec's decoder in a process of its own, so that it turns one frame into samples on a second core while the
 * language model makes the next ones on the first.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { AppError } from '../../../src/errors.ts'
import type { Decoder } from './decoder.ts'
import type { DecoderPlan, FromDecoder, ToDecoder } from './decoder-messages.ts'

interface Running {
  readonly process: ChildProcess
  /** The calls that wait for their samples. */
  readonly calls: Map<number, { resolve(samples: Float32Array): void; reject(reason: AppError): void }>
}

/** Starts the process and loads the decoder. When it is lost, the signal in flight fails and the next one starts another. */
export async function openDecoderProcess(plan: DecoderPlan): Promise<Decoder> {
  let running: Promise<Running> | undefined
  let streams = 0
  let calls = 0
  let closing = false
  await start()

  return {
    open() {
      const stream = ++streams
      let mine: Promise<Running> | undefined
      return {
        reset() {
          mine = undefined
        },
        async decode(latents) {
          const begins = mine === undefined
          mine ??= start()
          const decoder = await mine
          const call = ++calls
          return new Promise((resolve, reject) => {
            if (!decoder.process.connected) return reject(lost())
            decoder.calls.set(call, { resolve, reject })
            send(decoder.process, { type: 'decode', call, stream, begins, latents })
          })
        },
      }
    },
    async close() {
      closing = true
      const decoder = await running?.catch(() => undefined)
      if (!decoder || decoder.process.exitCode !== null || decoder.process.signalCode !== null) return
      const ended = new Promise((resolve) => decoder.process.once('exit', resolve))
      decoder.process.disconnect()
      await ended
    },
  }

  function start(): Promise<Running> {
    if (closing) throw lost()
    running ??= launch(plan, () => {
      running = undefined
    }).catch((thrown: unknown) => {
      running = undefined
      throw thrown
    })
    return running
  }
}

function launch(plan: DecoderPlan, onLoss: () => void): Promise<Running> {
  const child = spawnDecoder()
  const calls: Running['calls'] = new Map()
  return new Promise((resolve, reject) => {
    child.on('message', (message: FromDecoder) => {
      if (message.type === 'ready') resolve({ process: child, calls })
      else if (message.type === 'unusable') {
        child.disconnect()
        reject(revive(message.error))
      } else settle(calls, message)
    })
    const end = () => {
      onLoss()
      reject(lost())
      for (const call of calls.values()) call.reject(lost())
      calls.clear()
    }
    child.once('error', end)
    child.once('exit', end)
    send(child, { type: 'open', plan })
  })
}

function settle(calls: Running['calls'], message: Extract<FromDecoder, { call: number }>): void {
  const call = calls.get(message.call)
  calls.delete(message.call)
  if (message.type === 'audio') call?.resolve(message.samples)
  else call?.reject(revive(message.error))
}

function spawnDecoder(): ChildProcess {
  const self = import.meta.url
  // From the sources the child needs the loader that its parent has.
  const loader = self.endsWith('.ts') ? ['--import', import.meta.resolve('tsx')] : []
  const entry = new URL(self.endsWith('.ts') ? './decoder-child.ts' : './decoder-child.js', self)
  return spawn(process.execPath, [...loader, fileURLToPath(entry)], {
    env: {},
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    serialization: 'advanced',
    windowsHide: true,
  })
}

function send(child: ChildProcess, message: ToDecoder): void {
  // A process that has just died is noticed by its exit.
  if (child.connected) child.send(message, undefined, {}, () => {})
}

function lost(): AppError {
  return new AppError('unavailable', 'The process that decodes the audio ended unexpectedly')
}

function revive({ code, message, details }: Extract<FromDecoder, { type: 'failed' }>['error']): AppError {
  return new AppError(code, message, { details })
}
