import { join } from 'node:path'
import { quantisation } from '../../speech/engines/qwen3-tts/model.ts'
import { openQuantised } from '../../src/inference/quantisation.ts'
import { openTensorFile } from '../../src/inference/safetensors.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { largeSize, makeQwenModel, type QwenSize, smallSize } from '../speech/engines/qwen3-tts/model.ts'
import { print } from './parts/figures.ts'
import { measureBound, measureFirstLoad, measureServer, timed } from './speech-parts/large-model.ts'

const variants: readonly { readonly id: string; readonly repository: string; readonly size: QwenSize }[] = [
  { id: 'customvoice-0.6b', repository: 'Qwen/Qwen3-TTS-12Hz-0.6B-CustomVoice', size: smallSize },
  { id: 'customvoice-1.7b', repository: 'Qwen/Qwen3-TTS-12Hz-1.7B-CustomVoice', size: largeSize },
]

/** Random weights seldom end a text: it is cut here, at 4 s. */
const mostFrames = 50

/** Prints load, speed, first byte and memory of each size, beside the time that reading its weights takes. */
export async function bench(): Promise<void> {
  for (const { id, repository, size } of variants) {
    const folder = temporaryFolder()
    print(`\n${id}`)
    const path = join(folder, 'models', repository)
    await timed('making random weights', () => makeQwenModel(path, { ...size, mostFrames }))
    const model = { server: 'voxa-tts', variant: id } as const
    await measureFirstLoad(folder, model)
    const reached = await measureServer(folder, model, { input: 'Here.', voice: 'ryan' })
    await measureBound(folder, await bytesPerFrame(folder, path, size), reached)
  }
}

/** A frame's weights: those of the talker once, and of the predictor once for each of the other codes. */
async function bytesPerFrame(folder: string, model: string, { groups }: QwenSize): Promise<number> {
  const file = await openTensorFile(join(model, 'model.safetensors'))
  const quantised = await openQuantised(file, { ...quantisation, cacheFolder: join(folder, 'cache') })
  let bytes = 0
  for (const { name, length } of quantised.tensors.values())
    bytes += /code_predictor\.(model|small)/.test(name) ? length * (groups - 1) : length
  await quantised.close()
  await file.close()
  return bytes
}
