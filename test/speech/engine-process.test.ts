import * as assert from 'uvu/assert'
import { createEngineProcess, type EngineProcess, type EngineProcessOptions } from '../../speech/engine-process.ts'
import { errorOf } from '../helpers/rejection.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('an engine in a process of its own')
const module = new URL(`./faulty-engine${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url).href

test('it speaks, in the pieces the engine made', () =>
  withEngine({}, async (engine) => {
    await engine.load()
    assert.is(engine.id, 'faulty')
    const pieces = await speak(engine, 'hello')
    assert.equal(
      pieces.map((piece) => [piece.length, piece[0]]),
      [
        [250, 0.5],
        [250, 0.25],
      ],
    )
  }))

test('a hang is killed soon after its time is over', () =>
  withEngine({ graceMs: 50 }, async (engine) => {
    const voice = await engine.prepareVoice({ kind: 'preset', voice: 'alba' })
    const { pid } = engine
    const reason = await collect(engine, 'hang', voice, AbortSignal.timeout(50)).then(
      () => undefined,
      (thrown: Error) => thrown.name,
    )
    assert.is(reason, 'TimeoutError')
    assert.not.ok(isAlive(pid!))
    assert.is((await collect(engine, 'hello', voice)).length, 2)
  }))

test('a cancelled call ends without costing the process', () =>
  withEngine({ graceMs: 10_000 }, async (engine) => {
    const voice = await engine.prepareVoice({ kind: 'preset', voice: 'alba' })
    const { pid } = engine
    const controller = new AbortController()
    for await (const _ of engine.synthesize({ text: 'wait', voice })) break
    await collect(engine, 'wait', voice, AbortSignal.any([controller.signal, AbortSignal.timeout(30)])).catch(() => {})
    assert.is((await collect(engine, 'hello', voice)).length, 2)
    assert.is(engine.pid, pid)
  }))

test('the engine’s process does not see the environment', async () => {
  // The engine itself lists its variables, which works on every system.
  const seen = async (environment: Record<string, string>) =>
    withEngine({ environment, options: { tellEnvironment: true } }, async (engine) => {
      told = (await errorOf(engine.load())).details
    })
  let told: readonly string[] = []
  process.env['AICHAT_TEST_SECRET'] = 'not for engines'
  try {
    await seen({ AICHAT_TEST_GIVEN: 'yes' })
  } finally {
    delete process.env['AICHAT_TEST_SECRET']
  }
  assert.ok(told.includes('AICHAT_TEST_GIVEN'), told.join())
  assert.equal(
    told.filter((name) => /^(?:PATH|HOME|AICHAT_TEST_SECRET|AICHAT_TEST_DATA)$/i.test(name)),
    [],
  )
})

async function withEngine(
  options: Partial<EngineProcessOptions>,
  work: (engine: EngineProcess, losses: readonly string[]) => Promise<void>,
): Promise<void> {
  const losses: string[] = []
  const engine = createEngineProcess({ module, onLoss: (reason) => losses.push(reason), ...options })
  try {
    await work(engine, losses)
  } finally {
    await engine.close()
  }
}

async function speak(engine: EngineProcess, text: string): Promise<readonly Float32Array[]> {
  return collect(engine, text, await engine.prepareVoice({ kind: 'preset', voice: 'alba' }))
}

async function collect(
  engine: EngineProcess,
  text: string,
  voice: Awaited<ReturnType<EngineProcess['prepareVoice']>>,
  signal?: AbortSignal,
): Promise<readonly Float32Array[]> {
  const pieces: Float32Array[] = []
  for await (const piece of engine.synthesize({ text, voice }, signal)) pieces.push(piece)
  return pieces
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test.run()
