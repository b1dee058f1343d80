// With --all only: a neural engine.
/** The two processes of server B's engine: the cost of losing one, and that none is left behind. */
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { openSpeechService, type SpeechService } from '../../../../speech/service.ts'
import { temporaryFolder } from '../../../helpers/folders.ts'
import { suite } from '../../../helpers/suite.ts'
import { makePocketModel, tinySize } from './model.ts'

const test = suite('the processes of pocket-tts')

/** Two chunks. */
const text = 'The fox jumps over the lazy dog and runs on. '.repeat(20)

interface Scene {
  readonly service: SpeechService
  /** The process that decodes for the engine. */
  decoder(): number
}

async function openScene(): Promise<Scene> {
  const modelsFolder = temporaryFolder()
  const configuration = { sample_rate: 300, sampling: { tokens_per_second_estimate: 10 } }
  await makePocketModel(join(modelsFolder, 'voxb-tts'), { ...tinySize, configuration })
  const service = openSpeechService({ server: 'voxb-tts', modelsFolder, hubEndpoint: 'http://127.0.0.1:9' })
  await service.load()
  return { service, decoder: () => decoderOf(service.pid!) }
}

let opened: Promise<Scene> | undefined
test.after(async () => (await opened)?.service.close())

/** Works with the service that all tests share; the last one closes it. */
async function withService(work: (scene: Scene) => Promise<void>): Promise<void> {
  opened ??= openScene()
  await work(await opened)
}

function decoderOf(engine: number): number {
  const children = readFileSync(`/proc/${engine}/task/${engine}/children`, 'utf8').trim().split(' ').map(Number)
  const found = children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('decoder-child'))
  assert.ok(found, 'the engine has a decoder')
  return found!
}

/** Speaks a text; `meanwhile` runs after the first piece. */
async function speak({ service }: Scene, input: string, meanwhile = () => {}, signal?: AbortSignal) {
  const speech = await service.speak({ input }, signal)
  let bytes = 0
  for await (const piece of speech.pcm(true)) {
    if (bytes === 0) meanwhile()
    bytes += piece.length
  }
  return { bytes, spoken: speech.spoken, total: speech.total }
}

/** Waits until a process is no more. */
async function gone(pid: number): Promise<void> {
  const lives = () => existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  for (let waits = 0; lives(); waits++) {
    assert.ok(waits < 1000, `process ${pid} is still there`)
    await delay(30)
  }
}

/** On one core the engine decodes by itself; without Linux's /proc its processes cannot be looked at. */
const seen = availableParallelism() > 1 && existsSync(`/proc/${process.pid}/task/${process.pid}/children`)
if (!seen) process.stdout.write('skipped: these need two cores and Linux\n')
const linuxTest = seen ? test : test.skip

linuxTest('a decoder that is killed in the middle of a text costs one chunk, and the next text is whole', () =>
  withService(async (scene) => {
    const killed = scene.decoder()
    const { spoken, total } = await speak(scene, text, () => process.kill(killed, 'SIGKILL'))
    assert.ok(total >= 2)
    assert.is(spoken, total - 1)
    assert.is.not(scene.decoder(), killed)
    const next = await speak(scene, 'The fox jumps.')
    assert.is(next.spoken, next.total)
  }),
)

linuxTest('an engine that is killed takes its decoder along, and the next text is whole', () =>
  withService(async (scene) => {
    const [engine, decoder] = [scene.service.pid!, scene.decoder()]
    const { spoken, total } = await speak(scene, text, () => process.kill(engine, 'SIGKILL'))
    assert.is(spoken, total - 1)
    await gone(decoder)
    const next = await speak(scene, 'The fox jumps.')
    assert.is(next.spoken, next.total)
  }),
)

linuxTest('a listener who leaves stops both, and the same processes go on with the next text', () =>
  withService(async (scene) => {
    const processes = [scene.service.pid, scene.decoder()]
    const left = new AbortController()
    const error = await speak(scene, text, () => left.abort(new Error('left')), left.signal).catch((thrown) => thrown)
    assert.is(error.message, 'left')
    for await (const _ of (await scene.service.speak({ input: text })).pcm(true)) break
    const next = await speak(scene, 'The fox jumps.')
    assert.is(next.spoken, next.total)
    assert.equal([scene.service.pid, scene.decoder()], processes)
  }),
)

linuxTest('a service that is closed leaves no process, also while it speaks', async () => {
  const pids: number[] = []
  await withService(async (scene) => {
    pids.push(scene.service.pid!, scene.decoder())
    for await (const _ of (await scene.service.speak({ input: text })).pcm(true)) break
    await scene.service.close()
  })
  for (const pid of pids) await gone(pid)
})

test.run()
