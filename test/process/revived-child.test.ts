// Some with --all only: many processes.
import * as assert from 'uvu/assert'
import { AppError } from '../../src/errors.ts'
import { createRevivedChild, type RevivedChild, type RevivedChildOptions } from '../../src/process/revived-child.ts'
import { errorOf } from '../helpers/rejection.ts'
import { suite } from '../helpers/suite.ts'
import type { FaultyMethods } from './faulty-child.ts'

const test = suite('a child that is revived')
type Options = Partial<RevivedChildOptions<FaultyMethods>>

test('it is started at the first call, once for all that ask at the same time', () =>
  withRevived({}, async (child) => {
    assert.equal([child.pid, child.opened], [undefined, undefined])
    const [first, second] = await Promise.all([child.start(), child.start()])
    assert.is(first, second)
    assert.is(child.pid, first!.pid)
    assert.equal(child.opened, { pid: child.pid! })
  }))

test('a crash costs the call in flight, and the next start finds a new process', () =>
  withRevived({}, async (child, losses) => {
    const first = await child.start()
    const error = await errorOf(first.request('crash', null))
    assert.equal([error.code, error.message], ['unavailable', 'The child ended unexpectedly'])
    assert.match((error.cause as Error).message, /SIGKILL: no memory left/)
    assert.match(losses.join(), /^SIGKILL/)
    assert.is(child.pid, undefined)
    const second = await child.start()
    assert.is.not(second.pid, first.pid)
    assert.is(await second.request('echo', 1), 1)
    // The lost one stays lost.
    assert.is((await errorOf(first.request('echo', 1))).code, 'unavailable')
  }))

test('errors of its methods become AppErrors', () =>
  withRevived({}, async (child) => {
    assert.is((await errorOf((await child.start()).request('fail', 'text'))).code, 'internal')
  }))

test('crashes without an item in between are counted; beyond the budget it is left alone', () =>
  withRevived({ crashBudget: { losses: 2, restMs: 60_000 } }, async (child, losses) => {
    const crash = async () => void (await errorOf((await child.start()).request('crash', null)))
    await crash()
    for await (const _ of (await child.start()).stream('count', 1));
    await crash()
    await crash()
    const refused = await errorOf(child.start())
    assert.equal(
      [refused.code, refused.message, refused.details, refused.retryAfter],
      ['unavailable', 'The child keeps ending', ['it is started again in 60 s'], 60],
    )
    assert.is(losses.length, 3)
  }))

test.whole('after its rest it is started again', () =>
  withRevived({ crashBudget: { losses: 1, restMs: 0 } }, async (child) => {
    for (let time = 0; time < 3; time++) await errorOf((await child.start()).request('crash', null))
    assert.is(await (await child.start()).request('echo', 1), 1)
  }),
)

test('a process that was killed for its slowness does not count against the budget', () =>
  withRevived({ crashBudget: { losses: 1, restMs: 60_000 }, graceMs: 20 }, async (child) => {
    const controller = new AbortController()
    const items = (await child.start()).stream('hang', null, controller.signal)
    await items.next()
    controller.abort(new Error('the time is over'))
    await items.next().catch(() => {})
    assert.is(await (await child.start()).request('echo', 1), 1)
  }))

test('an error of opening is thrown each time, and no process is left', () =>
  withRevived({ open: 'fail' }, async (child) => {
    for (let time = 0; time < 2; time++) {
      const error = await errorOf(child.start())
      assert.equal(
        [error.code, error.message, error.details],
        ['unavailable', 'The weights are missing', ['fetch them']],
      )
      assert.is(child.pid, undefined)
    }
  }))

test.whole('a crash while opening, and an opening that takes too long, are losses', async () => {
  for (const open of ['crash', 'hang'] as const)
    await withRevived({ open, openMs: open === 'hang' ? 400 : 60_000 }, async (child, losses) => {
      assert.is((await errorOf(child.start())).message, 'The child ended unexpectedly')
      assert.equal(losses, ['SIGKILL'])
      assert.is(child.pid, undefined)
    })
})

test('an abort ends the wait for the opening and not the process', () =>
  withRevived({}, async (child) => {
    const controller = new AbortController()
    const started = child.start(controller.signal)
    const { pid } = child
    controller.abort(new Error('left'))
    assert.is(await started.catch((thrown: Error) => thrown.message), 'left')
    assert.is((await child.start()).pid, pid)
  }))

test('stopping ends the process, which is no loss, and the next start launches another', () =>
  withRevived({}, async (child, losses) => {
    const first = await child.start()
    await child.stop()
    assert.is(child.pid, undefined)
    assert.is.not((await child.start()).pid, first.pid)
    assert.equal(losses, [])
  }))

test('closing is for good, also while it opens', async () => {
  for (const isOpening of [false, true])
    await withRevived({}, async (child) => {
      const started = child.start().catch(() => {})
      if (!isOpening) await started
      await child.close()
      const error = await errorOf(child.start())
      assert.equal([error.code, error.message], ['unavailable', 'The child is closed'])
      await started
      await child.close()
    })
})

test('losses may have an error of their own', () =>
  withRevived({ lost: (reason) => new AppError('io', `gone: ${reason}`) }, async (child) => {
    assert.match((await errorOf((await child.start()).request('crash', null))).message, /^gone: SIGKILL/)
  }))

async function withRevived(
  options: Options,
  work: (child: RevivedChild<FaultyMethods>, losses: readonly string[]) => Promise<void>,
): Promise<void> {
  const losses: string[] = []
  const child = createRevivedChild<FaultyMethods>({
    name: 'The child',
    module: { beside: import.meta.url, name: './faulty-child' },
    open: 'well',
    onLoss: (reason) => losses.push(reason),
    ...options,
  })
  try {
    await work(child, losses)
  } finally {
    await child.close()
  }
}

test.run()
