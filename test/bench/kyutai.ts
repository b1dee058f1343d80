import { join } from 'node:path'
import { readConfiguration } from '../../speech/engines/kyutai-tts/configuration.ts'
import { quantisation } from '../../speech/engines/kyutai-tts/model.ts'
import { kyutaiRepository } from '../../speech/engines/kyutai-tts/repositories.ts'
import { dividedFile, languageFile } from '../../speech/engines/kyutai-tts/tensors.ts'
import { openQuantised } from '../../src/inference/quantisation.ts'
import { openTensorFile } from '../../src/inference/safetensors.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { files, largeSize, makeKyutaiModel, makeVoice } from '../speech/engines/kyutai-tts/model.ts'
import { print } from './parts/figures.ts'
import { measureBound, measureFirstLoad, measureServer, timed } from './speech-parts/large-model.ts'

/** Prints load, speed, first byte and memory with all codebooks and with fewer, beside the time that reading its weights takes. */
export async function bench(): Promise<void> {
  const folder = temporaryFolder()
  const path = join(folder, 'models', kyutaiRepository)
  await timed('making random weights', () => makeKyutaiModel(path, largeSize))
  await makeVoice(join(path, 'voices/alba.safetensors'), largeSize, { frames: 125 })
  await measureFirstLoad(folder, { server: 'voxb-tts-1.6b' })
  for (const codebooks of [32, 16, 8]) {
    print(`\n${codebooks} codebooks`)
    const model = { server: 'voxb-tts-1.6b', codebooks } as const
    const reached = await measureServer(folder, model, { input: 'The fox jumps over it.', voice: 'alba' })
    await measureBound(folder, await bytesPerFrame(folder, path, codebooks), reached)
  }
}

/** A frame's weights: those of the backbone once, and of the depth transformer a set for each codebook. */
async function bytesPerFrame(folder: string, model: string, codebooks: number): Promise<number> {
  const { schedule, sets } = await readConfiguration(model)
  const file = languageFile(await openTensorFile(join(model, files.model)))
  const quantised = await openQuantised(dividedFile(file, sets), {
    ...quantisation,
    cacheFolder: join(folder, 'cache'),
  })
  const uses = (set: number) => schedule.slice(0, codebooks).filter((each) => each === set).length
  let bytes = 0
  for (const { name, length } of quantised.tensors.values()) bytes += length * readsOf(name, uses, codebooks)
  await quantised.close()
  await file.close()
  return bytes
}

/** How often a tensor is read for a frame. */
function readsOf(name: string, uses: (set: number) => number, codebooks: number): number {
  const set =
    /^depformer\..*#(\d+)/.exec(name) ?? /^depformer\..*gating\.(\d+)/.exec(name) ?? /^depformer_in\.(\d+)/.exec(name)
  if (set) return uses(Number(set[1]))
  const head = /^linears\.(\d+)/.exec(name)
  if (head) return Number(head[1]) < codebooks ? 1 : 0
  // Keys and values of the voice are computed once for a text.
  return /cross_attention\.in_proj_weight#[12]/.test(name) ? 0 : 1
}
