// With --all only: a neural engine.
/** Quantised weights between loads: with any damage to the cache, the speech comes from the model's own file. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, readdir, readFile, rename, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createEngine } from '../../../../speech/engines/pocket-tts/engine.ts'
import type { AppError } from '../../../../src/errors.ts'
import { openTensorFile } from '../../../../src/inference/safetensors.ts'
import { type NewTensor, writeTensorFile } from '../../../../src/inference/tensor-writer.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'
import { suite } from '../../../helpers/suite.ts'
import { refusalOf } from '../spoilt-model.ts'
import { makePocketModel, modelTensors, tinySize } from './model.ts'

const test = suite('the cache of quantised weights')

async function tinyModel(seed = 1): Promise<string> {
  const folder = join(temporaryFolder(), 'tiny')
  await makePocketModel(folder, tinySize, seed)
  return folder
}

const load = (options: Parameters<typeof createEngine>[0]) => refusalOf(createEngine(options))

async function onlyFileIn(folder: string): Promise<string> {
  const names = await readdir(folder)
  assert.is(names.length, 1, names.join())
  return join(folder, names[0]!)
}

test('a cached file of which a single bit has changed is made again, also where it still has its form', async () => {
  const [folder, cacheFolder] = [await tinyModel(), temporaryFolder()]
  await load({ folder, cacheFolder })
  const path = await onlyFileIn(cacheFolder)
  const whole = await readFile(path)
  for (const at of [whole.length - 1, Math.floor(whole.length / 2), 3, 30]) {
    const spoilt = Buffer.from(whole)
    spoilt[at]! ^= 1
    await writeFile(path, spoilt)
    assert.is(await load({ folder, cacheFolder }), undefined)
    assert.equal(await readFile(await onlyFileIn(cacheFolder)), whole, `byte ${at}`)
  }
})

test("another model's cached file under this one's name is not used", async () => {
  const [folder, other] = [await tinyModel(), await tinyModel(2)]
  const [cacheFolder, otherCache] = [temporaryFolder(), temporaryFolder()]
  await load({ folder, cacheFolder })
  await load({ folder: other, cacheFolder: otherCache })
  const path = await onlyFileIn(cacheFolder)
  const whole = await readFile(path)
  await copyFile(await onlyFileIn(otherCache), path)
  await load({ folder, cacheFolder })
  assert.equal(await readFile(path), whole)
})

test('processes that make the same file at the same time all load, and leave that one file', async () => {
  const [folder, cacheFolder] = [await tinyModel(), temporaryFolder()]
  const address = new URL(
    `../../../../speech/engines/pocket-tts/engine${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`,
    import.meta.url,
  )
  const script = `
    const { createEngine } = await import(${JSON.stringify(address.href)})
    const engines = [1, 2].map(() => createEngine(${JSON.stringify({ folder, cacheFolder })}))
    await Promise.all(engines.map((engine) => engine.load()))
    for (const engine of engines) await engine.close()`
  const loader = address.href.endsWith('.ts') ? ['--import', import.meta.resolve('tsx')] : []
  const processes = [1, 2].map(() =>
    spawn(process.execPath, [...loader, '--input-type=module', '-e', script], {
      stdio: ['ignore', 'ignore', 'inherit'],
    }),
  )
  for (const [code] of await Promise.all(processes.map((child) => once(child, 'exit')))) assert.is(code, 0)
  const file = await openTensorFile(await onlyFileIn(cacheFolder))
  assert.is(file.metadata.get('sha256'), await file.digest('numbers'))
  await file.close()
})

/** Runs with another folder for temporary files. */
async function withTemporary(folder: string, work: () => Promise<void>): Promise<void> {
  const before = process.env['TMPDIR']
  process.env['TMPDIR'] = folder
  try {
    await work()
  } finally {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
  }
}

test('where the cache cannot be written the model loads all the same, and leaves nothing behind', async () => {
  const [folder, temporary] = [await tinyModel(), temporaryFolder()]
  // A folder below a file cannot be made, not even by root.
  const blocked = join(temporary, 'file')
  await writeFile(blocked, '')
  await withTemporary(temporary, async () =>
    assert.is(await load({ folder, cacheFolder: join(blocked, 'cache') }), undefined),
  )
  assert.equal(await readdir(temporary), ['file'])
  await withTemporary(blocked, async () => {
    const refusal = await load({ folder, cacheFolder: join(blocked, 'cache') })
    assert.is(refusal?.code, 'io')
    assert.match(refusal?.message ?? '', 'could not be written')
  })
})

test('leftovers of killed processes go, files being written stay', async () => {
  const [folder, cacheFolder] = [await tinyModel(), temporaryFolder()]
  const [old, fresh, foreign] = ['pocket-tts-x.1.part', 'pocket-tts-x.2.part', 'other.part']
  for (const name of [old, fresh, foreign]) await writeFile(join(cacheFolder, name), 'half')
  for (const name of [old, foreign]) await utimes(join(cacheFolder, name), 1, 1)
  await load({ folder, cacheFolder })
  const left = await readdir(cacheFolder)
  assert.equal(
    [old, fresh, foreign].map((name) => left.includes(name)),
    [false, true, true],
  )
})

test('weights that are no numbers are refused by name, in any tensor and precision', async () => {
  const folder = await tinyModel()
  const names = ['mimi.decoder.model.0.conv.weight', 'flow_lm.emb_std', 'flow_lm.transformer.layers.1.norm1.bias']
  const spoilt = modelTensors(tinySize, 1).map((tensor): NewTensor => {
    if (!names.includes(tensor.name)) return tensor
    const data = new Float32Array(tensor.shape.reduce((product, size) => product * size, 1)).fill(1)
    return { ...tensor, dtype: 'F32', data: () => data.fill(Number.NEGATIVE_INFINITY, -1) }
  })
  await writeTensorFile(join(folder, 'model.safetensors'), spoilt)
  for (const precision of ['int8', 'float32'] as const) {
    const refusal = await load({ folder, precision, cacheFolder: temporaryFolder() })
    assert.is(refusal?.code, 'unavailable')
    assert.match(refusal?.message ?? '', 'model.safetensors')
    for (const name of names) assert.match(refusal!.details.join('\n'), name)
  }
})

test('weights that are exchanged after they were checked are not computed with', async () => {
  const [folder, other] = [await tinyModel(), await tinyModel(2)]
  const path = join(folder, 'model.safetensors')
  const engine = createEngine({ folder, cacheFolder: temporaryFolder() })
  await engine.load()
  await rename(join(other, 'model.safetensors'), path)
  // The encoder is opened when the first clip comes.
  const clip = { kind: 'clone', samples: new Float32Array(500).fill(0.1), sampleRate: 8000 } as const
  const refusal = (await engine.prepareVoice(clip).catch((thrown) => thrown)) as AppError
  assert.is(refusal.code, 'unavailable')
  assert.match(refusal.message, /model\.safetensors was changed/)
  await engine.close()
})

test('a file is known again until another one takes its place', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'some.safetensors')
  const write = () => writeTensorFile(path, [{ name: 'a', dtype: 'U8', shape: [1], data: () => Uint8Array.of(1) }])
  await write()
  const file = await openTensorFile(path)
  await file.requireUnchanged()
  for (const change of [
    write,
    () => utimes(path, 1, 1),
    () => mkdir(join(folder, 'away')).then(() => rename(path, join(folder, 'away', 'x'))),
  ]) {
    const known = await openTensorFile(path)
    await known.requireUnchanged()
    await change()
    assert.match(String(await known.requireUnchanged().catch((thrown) => thrown)), 'some.safetensors was changed')
    await known.close()
  }
  await file.close()
})

test.run()
