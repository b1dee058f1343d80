import * as assert from 'uvu/assert'
import { type Background, createBackground } from '../../../src/chat/responses/background.ts'
import type { Responses } from '../../../src/chat/responses/responses.ts'
import type { Reader, ResponseObject } from '../../../src/chat/responses/store.ts'
import { AppError } from '../../../src/errors.ts'
import { closing } from '../../helpers/disposal.ts'
import { until } from '../../helpers/eventually.ts'
import { rejects } from '../../helpers/rejection.ts'
import { suite } from '../../helpers/suite.ts'
import { ada, type KeptResponses, response, textsOf, withResponses } from './kept.ts'

const test = suite('responses in the background')

test('once its end is told, the next request can go on with it; before, it is refused', () =>
  withBackground(async ({ responses, background, begin }) => {
    const work = await begin('resp_1')
    const next = () => responses.open({ input: 'Two', previous_response_id: 'resp_1' }, ada)
    await rejects(next(), 'invalid', /not finished/)
    const events = take(await background.follow(ada, 'resp_1', -1))
    work.end('resp_1')
    await events
    assert.equal(textsOf(await next()), ['One', 'Answer of resp_1', 'Two'])
  }))

test('one that was not made in the background can neither be cancelled nor streamed again', () =>
  withBackground(async ({ background, ask }) => {
    await ask({ id: 'resp_1', input: 'Hi' })
    await rejects(background.cancel(ada, 'resp_1'), 'invalid', /background: true/)
    await rejects(background.follow(ada, 'resp_1', 0), 'invalid', /background: true/)
    for (const call of [background.cancel, background.find, background.remove])
      await rejects(call(ada, 'resp_unknown'), 'not_found', /resp_unknown/)
    await rejects(background.follow(ada, 'resp_unknown', 0), 'not_found', /resp_unknown/)
  }))

test('a removed one is stopped and gone', () =>
  withBackground(async ({ background, begin, storage }) => {
    const work = await begin('resp_1')
    await background.remove(ada, 'resp_1')
    assert.ok(work.signal().aborted)
    await rejects(background.find(ada, 'resp_1'), 'not_found', /resp_1/)
    assert.is((await storage.responses.extent('ada')).responses, 0)
  }))

test('one that another process cancels or removes is left by its own, which tells no other end, nor a state before', () =>
  withBackground(async ({ background, begin, responses }) => {
    const other = createBackground(responses)
    const states = (id: string) =>
      Promise.all([background, other].map(async (each) => (await each.find(ada, id)).status))
    const [work, raced, removed] = [await begin('resp_1'), await begin('resp_2'), await begin('resp_3')]
    assert.equal(await states('resp_1'), ['in_progress', 'in_progress'], 'before the first event')
    work.say('response.in_progress', { response: response('resp_1', [], 'in_progress') })
    assert.equal(await states('resp_1'), ['in_progress', 'in_progress'])

    const live = take(await background.follow(ada, 'resp_1', -1))
    assert.is((await other.cancel(ada, 'resp_1')).status, 'cancelled')
    assert.equal(await states('resp_1'), ['cancelled', 'cancelled'])
    await left(work)
    assert.equal((await live).at(-1)?.['response'], { ...response('resp_1', [], 'cancelled'), background: true })

    const told = take(await background.follow(ada, 'resp_2', -1))
    await other.cancel(ada, 'resp_2')
    raced.end('resp_2')
    assert.equal((await told).at(-1)?.['response'], { ...response('resp_2', [], 'cancelled'), background: true })
    assert.equal(await states('resp_2'), ['cancelled', 'cancelled'])

    await other.remove(ada, 'resp_3')
    await rejects(background.find(ada, 'resp_3'), 'not_found', /resp_3/)
    await left(removed)
    await until(() => !background.runs('resp_3'))
  }))

test('a failure, an answer without an end, the end of its login and of the process leave it failed', () =>
  withBackground(async ({ background, begin, events }) => {
    const broken = await begin('resp_1')
    broken.break(new Error('a bug'))
    const open = await begin('resp_2')
    open.break()
    const login = await begin('resp_3')
    login.stop(new AppError('unauthenticated', 'The login has ended'))
    await begin('resp_4')
    await background.close()
    const messages = []
    for (const id of ['resp_1', 'resp_2', 'resp_3', 'resp_4']) {
      const { status, error } = await background.find(ada, id)
      assert.is(status, 'failed')
      assert.is((await events(id, -1)).at(-1)?.type, 'response.failed')
      messages.push((error as { message: string }).message)
    }
    assert.match(messages[2]!, 'The login has ended')
    assert.match(messages[3]!, /stopped/)
  }))

test('one whose end cannot be written is told as failed, not as running', () =>
  withBackground(async ({ background, begin, storage }) => {
    const work = await begin('resp_1')
    const events = take(await background.follow(ada, 'resp_1', -1))
    storage.responses.finish = async () => {
      throw new AppError('io', 'The disk is full')
    }
    work.end('resp_1')
    assert.is((await events).at(-1)?.type, 'response.failed')
    assert.is((await background.find(ada, 'resp_1')).status, 'failed')
  }))

test.run()

type Told = { readonly type: string; readonly [field: string]: unknown }

/** The answer of a provider, as the test has it go on. */
interface Work {
  say(type: string, fields: object): void
  end(id: string): void
  /** Breaks off, with an error or without. */
  break(reason?: Error): void
  stop(reason: AppError): void
  signal(): AbortSignal
}

/** Resolves when the provider of an answer is left. */
async function left(work: Work): Promise<void> {
  await until(() => work.signal().aborted)
}

interface Parts extends KeptResponses {
  readonly responses: Responses
  readonly background: Background
  begin(id: string, reader?: Reader): Promise<Work>
  events(id: string, after: number): Promise<readonly Told[]>
}

function withBackground(work: (parts: Parts) => Promise<void>): Promise<void> {
  return withResponses(async (parts) => {
    const storage = { ...parts.storage, responses: parts.storage.responses }
    await using background = closing(createBackground(parts.responses))
    await work({
      ...parts,
      storage,
      background,
      begin: (id, reader = ada) => begun(parts.responses, background, id, reader),
      events: async (id, after) => take(await background.follow(ada, id, after)),
    })
  })
}

async function begun(responses: Responses, background: Background, id: string, reader: Reader): Promise<Work> {
  const steps: (string | Error | undefined)[] = []
  let wake = () => {}
  let signal: AbortSignal | undefined
  const add = (step: string | Error | undefined) => {
    steps.push(step)
    wake()
  }
  const say = (type: string, fields: object) => add(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`)
  const queued: ResponseObject = { ...response(id, [], 'queued'), background: true }
  const { stop } = await background.start({
    opened: await responses.open({ input: 'One' }, reader),
    reader,
    queued,
    async *run(given) {
      signal = given
      given.addEventListener('abort', () => wake())
      for (;;) {
        while (steps.length > 0) {
          const step = steps.shift()
          if (step === undefined) return
          if (step instanceof Error) throw step
          yield { text: step }
        }
        if (given.aborted) return
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  })
  return {
    say,
    end: (name) => say('response.completed', { response: { ...response(name), background: true } }),
    break: (reason) => add(reason),
    stop,
    signal: () => signal!,
  }
}

/** The first events of a stream, or all. */
async function take(events: AsyncIterable<string>, most = Number.POSITIVE_INFINITY): Promise<readonly Told[]> {
  const taken: Told[] = []
  for await (const text of events) {
    taken.push(JSON.parse(text.slice(text.indexOf('data: ') + 6)))
    if (taken.length === most) break
  }
  return taken
}
