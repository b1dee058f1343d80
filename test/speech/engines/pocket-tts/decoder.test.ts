// With --all only: a neural engine.
/** The decoder in a process of its own: the same samples, also after the process was lost. */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openDecoderProcess } from '../../../../speech/engines/neural/decoder.ts'
import { readConfiguration } from '../../../../speech/engines/pocket-tts/configuration.ts'
import { decoderSource, loadDecoder } from '../../../../speech/engines/pocket-tts/decoder.ts'
import { createPocketEngine } from '../../../../speech/engines/pocket-tts/engine.ts'
import { readGeometry } from '../../../../speech/engines/pocket-tts/geometry.ts'
import type { AppError } from '../../../../src/errors.ts'
import { openTensorFile } from '../../../../src/inference/safetensors.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'
import { suite } from '../../../helpers/suite.ts'
import { assertSameSound, joined } from './golden.ts'
import { makePocketModel, tinySize } from './model.ts'

const test = suite('the decoder of pocket-tts in a process of its own')

async function planOf(folder: string) {
  const file = await openTensorFile(join(folder, 'model.safetensors'))
  await file.close()
  return { folder, identity: file.identity, device: 'cpu' as const, overrides: {} }
}

async function tinyModel(): Promise<string> {
  const folder = join(temporaryFolder(), 'tiny')
  await makePocketModel(folder)
  return folder
}

const latentsOf = (frames: number, seed: number) =>
  Float32Array.from({ length: frames * tinySize.latent }, (_, i) => Math.sin(i * seed))

test('two signals at the same time are decoded as in this process', async () => {
  const folder = await tinyModel()
  const file = await openTensorFile(join(folder, 'model.safetensors'))
  const geometry = readGeometry(file)
  const here = await loadDecoder(file, geometry, await readConfiguration(folder, geometry), 'cpu')
  const beside = await openDecoderProcess(decoderSource, await planOf(folder))
  const decode = async (decoder: typeof here) => {
    const signals = [decoder.open(), decoder.open()]
    const made: Float32Array[][] = [[], []]
    for (const pieces of [1, 3, 2])
      await Promise.all(
        signals.map(async (signal, i) => void made[i]!.push((await signal.decode(latentsOf(pieces, i + 1))).slice())),
      )
    void signals[0]!.reset()
    made[0]!.push((await signals[0]!.decode(latentsOf(1, 1))).slice())
    return made.map(joined)
  }
  const expected = await decode(here)
  for (const [i, signal] of (await decode(beside)).entries()) assertSameSound(signal, expected[i]!)
  await beside.close()
  await here.close()
  await file.close()
})

test('the engine speaks the same with it and without it, also after a request that was left', async () => {
  const folder = await tinyModel()
  const cacheFolder = temporaryFolder()
  const heard: Float32Array[] = []
  for (const decoder of ['here', 'process'] as const) {
    const engine = createPocketEngine({ folder, cacheFolder, decoder, precision: 'float32' })
    await engine.load()
    const voice = await engine.prepareVoice({ kind: 'preset', voice: 'alba' })
    let left = 0
    for await (const _ of engine.synthesize({ text: 'Left early.', voice, seed: 4 })) if (++left === 3) break
    const pieces: Float32Array[] = []
    for await (const piece of engine.synthesize({ text: 'The fox jumps.', voice, seed: 5 })) pieces.push(piece)
    heard.push(joined(pieces))
    await engine.close()
  }
  assertSameSound(heard[1]!, heard[0]!)
})

test('a model that it cannot load, or that is another one by now, is named', async () => {
  const folder = await tinyModel()
  const plan = await planOf(folder)
  for (const [change, says] of [
    // The same weights in another file, which is unchecked.
    [() => makePocketModel(folder), /model\.safetensors was changed/],
    [() => rmSync(join(folder, 'model.safetensors')), /model\.safetensors is missing/],
  ] as const) {
    await change()
    const refusal = (await openDecoderProcess(decoderSource, plan).catch((thrown) => thrown)) as AppError
    assert.is(refusal.code, 'unavailable')
    assert.match(refusal.message, says)
  }
})

const name = 'when its process is lost, the signal in flight fails and the next one is decoded by a new process'
const children = `/proc/${process.pid}/task/${process.pid}/children`
if (!existsSync(children)) test.skip(name, () => undefined)
else
  test(name, async () => {
    const decoder = await openDecoderProcess(decoderSource, await planOf(await tinyModel()))
    const signal = decoder.open()
    const before = (await signal.decode(latentsOf(2, 1))).slice()
    for (const pid of readFileSync(children, 'utf8').trim().split(' '))
      if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('decoder-child')) process.kill(Number(pid), 'SIGKILL')
    const refusal = (await signal.decode(latentsOf(2, 1)).catch((thrown) => thrown)) as AppError
    assert.is(refusal.code, 'unavailable')
    void signal.reset()
    assertSameSound(await signal.decode(latentsOf(2, 1)), before)
    await decoder.close()
  })

test.run()
