/** The process in which the codec's decoder runs beside the language model. It ends when its parent is gone. */
import { join } from 'node:path'
import { AppError, toAppError } from '../../../src/errors.ts'
import { openTensorFile } from '../../../src/inference/safetensors.ts'
import type { PlainError } from '../messages.ts'
import { overridden, readConfiguration } from './configuration.ts'
import { type Decoder, type FrameDecoder, loadDecoder } from './decoder.ts'
import type { DecoderPlan, FromDecoder, ToDecoder } from './decoder-messages.ts'
import { readGeometry } from './geometry.ts'

let decoder: Decoder | undefined
const streams = new Map<number, FrameDecoder>()

/** Messages are answered one after the other: a signal's pieces must be decoded in their order. */
let last = Promise.resolve()

process.on('message', (message: ToDecoder) => {
  last = last.then(() => take(message))
})
// The parent decides when to stop: a Ctrl-C in the terminal reaches this process too, while audio is still being made.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})

async function take(message: ToDecoder): Promise<void> {
  try {
    if (message.type === 'open') {
      decoder = await open(message.plan)
      send({ type: 'ready' })
    } else {
      const { call, stream, begins, latents } = message
      const frames = streams.get(stream) ?? decoder!.open()
      streams.set(stream, frames)
      if (begins) frames.reset()
      send({ type: 'audio', call, samples: await frames.decode(latents) })
    }
  } catch (thrown) {
    const error = plain(thrown)
    send(message.type === 'open' ? { type: 'unusable', error } : { type: 'failed', call: message.call, error })
  }
}

async function open({ folder, identity, device, overrides }: DecoderPlan): Promise<Decoder> {
  const file = await openTensorFile(join(folder, 'model.safetensors'))
  try {
    const geometry = readGeometry(file)
    const configuration = overridden(await readConfiguration(folder, geometry), overrides)
    const loaded = await loadDecoder(file, geometry, configuration, device)
    await file.requireUnchanged()
    if (file.identity !== identity)
      throw new AppError('unavailable', `${file.path} was changed since the model was loaded`, {
        details: ['load the model again: start the server anew'],
      })
    return loaded
  } finally {
    await file.close()
  }
}

function send(message: FromDecoder): void {
  // A parent that has just gone is not an error of this process.
  if (process.connected) process.send?.(message, undefined, {}, () => {})
}

function plain(thrown: unknown): PlainError {
  const { code, message, details } = toAppError(thrown)
  return { code, message, details }
}
