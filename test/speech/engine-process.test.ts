// Some with --all only: a killed process.
import { setTimeout as sleep } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { createEngineProcess, type EngineProcess, type EngineProcessOptions } from '../../speech/engine-process.ts'
import { AppError } from '../../src/errors.ts'
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

test('an error of the engine comes over whole, and the process goes on', () =>
  withEngine({}, async (engine) => {
    await engine.load()
    const { pid } = engine
    assert.is((await errorOf(speak(engine, 'fail'))).code, 'internal')
    const missing = await errorOf(
      engine.prepareVoice({ kind: 'preset', voice: 'serena' }).then((voice) => collect(engine, 'x', voice)),
    )
    assert.equal([missing.code, missing.message], ['not_found', 'No such voice here'])
    assert.is((await speak(engine, 'hello')).length, 2)
    assert.is(engine.pid, pid)
  }))

test('a crash costs one call: the next one finds a new process and its voice prepared again', () =>
  withEngine({}, async (engine, losses) => {
    const voice = await engine.prepareVoice({ kind: 'preset', voice: 'alba' })
    const { pid } = engine
    const lost = await errorOf(collect(engine, 'crash', voice))
    assert.equal([lost.code, lost.message], ['unavailable', 'The speech engine ended unexpectedly'])
    assert.is((await collect(engine, 'hello', voice)).length, 2)
    assert.is.not(engine.pid, pid)
    assert.is(losses.length, 1)
    assert.match(losses[0]!, /SIGKILL/)
  }))

test.whole('an engine that crashes again and again is left alone for a while, then tried again', () =>
  withEngine({ restMs: 1000 }, async (engine, losses) => {
    const voice = await engine.prepareVoice({ kind: 'preset', voice: 'alba' })
    const codes: string[] = []
    // Sound in between shows that it works: the count begins again.
    for (const text of ['crash', 'crash', 'hello', 'crash', 'crash', 'crash'])
      await collect(engine, text, voice).catch((thrown: AppError) => codes.push(thrown.message))
    assert.is(losses.length, 5)
    const refused = await errorOf(collect(engine, 'hello', voice))
    assert.equal(
      [refused.code, refused.message, refused.retryAfter],
      ['unavailable', 'The speech engine keeps ending', 1],
    )
    assert.is(losses.length, 5)
    let pieces: readonly unknown[] | undefined
    while (!pieces) {
      await sleep(20)
      pieces = await collect(engine, 'hello', voice).catch(() => undefined)
    }
    assert.is(pieces.length, 2)
  }),
)

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

test('an engine that cannot be opened says why, each time', () =>
  withEngine({ options: { unusable: true } }, async (engine) => {
    for (let time = 0; time < 2; time++) {
      const error = await errorOf(engine.load())
      assert.equal(
        [error.code, error.message, error.details],
        ['unavailable', 'The weights are missing', ['fetch them']],
      )
    }
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

test('closing ends the process, and nothing is started after it', async () => {
  const engine = createEngineProcess({ module })
  await engine.load()
  const { pid } = engine
  await engine.close()
  assert.not.ok(isAlive(pid!))
  assert.is((await errorOf(engine.load())).code, 'unavailable')
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

async function errorOf(work: Promise<unknown>): Promise<AppError> {
  try {
    await work
  } catch (thrown) {
    if (thrown instanceof AppError) return thrown
    throw thrown
  }
  throw new Error('nothing was thrown')
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test.run()
