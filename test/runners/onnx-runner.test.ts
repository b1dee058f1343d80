// Some with --all only: a killed process.
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import * as assert from 'uvu/assert'
import type { DialectError } from '../../src/chat/protocol/dialect.ts'
import type { ChatChunk, ChatRequest } from '../../src/chat/protocol/messages.ts'
import { isRuntimeInstalled } from '../../src/inference/session.ts'
import { type ChatModel, openChatModel } from '../../src/runners/chat-model.ts'
import { createModelProcess, type ModelProcess, type ModelProcessOptions } from '../../src/runners/model-process.ts'
import { createOnnxRunner, generationRequest, onnxTarget } from '../../src/runners/onnx-runner.ts'
import { closing } from '../helpers/disposal.ts'
import { until } from '../helpers/eventually.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { randomWeights, tinyTokens, writeTinyModel } from '../helpers/providers/tiny-decoder.ts'
import { isWholeRun, suite } from '../helpers/suite.ts'
import { referenceLogits } from './decoder-reference.ts'

const all = suite('the embedded runner')
const isInstalled = await isRuntimeInstalled()
const test = isInstalled ? all : all.skip

const shape = {
  vocabulary: tinyTokens.count,
  hidden: 32,
  intermediate: 48,
  layers: 2,
  heads: 4,
  keyValueHeads: 2,
  positions: 400,
}
const weights = randomWeights(shape, 3)
const folder = temporaryFolder()
all.before(() => writeTinyModel(folder, shape, weights))
all.after(() => rmSync(folder, { recursive: true, force: true }))

const request = (text: string, more: Partial<ChatRequest> = {}): ChatRequest => ({
  model: 'tiny',
  messages: [{ role: 'user', content: text }],
  temperature: 0,
  repetition_penalty: 1,
  max_tokens: 24,
  ...more,
})

async function withModel(run: (model: ChatModel) => Promise<void>): Promise<void> {
  await using model = closing(await openChatModel({ name: 'tiny', folder, threads: 1 }))
  await run(model)
}

let shared: ModelProcess | undefined
all.after(() => shared?.close())

/** Works with the process that all tests share, or with one of other options. */
async function withProcess(
  run: (model: ModelProcess) => Promise<void>,
  more?: Partial<ModelProcessOptions>,
): Promise<void> {
  const open = () => createModelProcess({ kind: 'chat', name: 'tiny', folder, threads: 1, ...more })
  if (!more) {
    shared ??= open()
    return run(shared)
  }
  const model = open()
  try {
    await run(model)
  } finally {
    await model.close()
  }
}

async function collect(stream: AsyncIterable<ChatChunk>): Promise<ChatChunk[]> {
  const chunks: ChatChunk[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}

const textOf = (chunks: readonly ChatChunk[]) => chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')

/** The prompt of one user message as the tiny model's template and tokenizer make it. */
function promptOf(text: string): number[] {
  const bytes = (part: string) => [...Buffer.from(part)].map((byte) => tinyTokens.firstByte + byte)
  return [
    tinyTokens.start,
    ...bytes(`user\n${text}`),
    tinyTokens.end,
    ...bytes('\n'),
    tinyTokens.start,
    ...bytes('assistant\n'),
  ]
}

/** The answer by a full recomputation for each token. */
function greedyReference(prompt: readonly number[], most: number): { text: string; tokens: number; reason: string } {
  const ids = [...prompt]
  for (;;) {
    const scores = referenceLogits(ids, shape, weights)
    const next = scores.indexOf(Math.max(...scores))
    if (next === tinyTokens.end) return finish('stop', 1)
    ids.push(next)
    if (ids.length - prompt.length >= most) return finish('length', 0)
  }

  function finish(reason: string, extra: number) {
    const answer = ids.slice(prompt.length)
    const bytes = answer.filter((id) => id >= tinyTokens.firstByte).map((id) => id - tinyTokens.firstByte)
    return { text: Buffer.from(bytes).toString('utf8'), tokens: answer.length + extra, reason }
  }
}

test('greedy answers equal a full recomputation in plain loops, through template, tokenizer, cache and process', () =>
  withProcess(async (process) => {
    const target = onnxTarget({ name: 'tiny', folder }, process, () => 0)
    for (const question of isWholeRun ? ['Hi', 'What is it?', 'äöü €'] : ['äöü €']) {
      const reply = await target.ask(request(question))
      const expected = greedyReference(promptOf(question), 24)
      assert.is(reply.choices[0]!.message.content, expected.text)
      assert.is(reply.choices[0]!.finish_reason, expected.reason)
      assert.equal(reply.usage, {
        prompt_tokens: promptOf(question).length,
        completion_tokens: expected.tokens,
        total_tokens: promptOf(question).length + expected.tokens,
      })
    }
  }))

test('a stream has the text of the whole answer: a role first, one end, then the count of tokens', () =>
  withProcess(async (process) => {
    const target = onnxTarget({ name: 'tiny', folder }, process, () => 5_000)
    const chunks = await collect(await target.stream(request('Hi')))
    const reply = await target.ask(request('Hi'))
    assert.is(textOf(chunks), reply.choices[0]!.message.content)
    assert.is(chunks[0]!.choices[0]!.delta.role, 'assistant')
    assert.is(chunks.filter((chunk) => chunk.choices[0]?.finish_reason).length, 1)
    assert.equal(chunks.at(-1)!.choices, [])
    assert.ok(chunks.at(-1)!.usage)
    assert.ok(chunks.every((chunk) => chunk.model === 'tiny' && chunk.created === 5))
  }))

test('cancel stops within one token', () =>
  withModel(async (model) => {
    const stop = new AbortController()
    const pieces: string[] = []
    const generation = {
      messages: [{ role: 'user', content: 'Hi' }],
      sampling: { temperature: 1, seed: 4 },
      maxTokens: 300,
      stop: [],
    }
    try {
      await model.generate(
        generation,
        (text) => {
          pieces.push(text)
          if (pieces.length === 3) stop.abort(new Error('enough'))
        },
        stop.signal,
      )
      assert.unreachable()
    } catch (reason) {
      assert.is((reason as Error).message, 'enough')
    }
    assert.is(pieces.length, 3)
  }))

test('leaving the stream ends the work, and the next call is answered', () =>
  withProcess(async (process) => {
    const target = onnxTarget({ name: 'tiny', folder }, process, () => 0)
    const expected = await target.ask(request('Hi'))
    const { pid } = process
    for await (const chunk of await target.stream(request('Hi', { max_tokens: 380, temperature: 1, seed: 4 })))
      if (chunk.choices[0]?.delta.content) break
    assert.is((await target.ask(request('Hi'))).choices[0]!.message.content, expected.choices[0]!.message.content)
    assert.is(process.pid, pid)
  }))

test('an aborted call throws the reason and leaves the process running', () =>
  withProcess(async (process) => {
    const target = onnxTarget({ name: 'tiny', folder }, process, () => 0)
    await target.ask(request('Hi'))
    const { pid } = process
    const stop = new AbortController()
    try {
      for await (const chunk of await target.stream(
        request('Hi', { max_tokens: 380, temperature: 1, seed: 4 }),
        stop.signal,
      ))
        if (chunk.choices[0]?.delta.content) stop.abort(new Error('gone'))
      assert.unreachable()
    } catch (reason) {
      assert.is((reason as Error).message, 'gone')
    }
    await target.ask(request('Hi'))
    assert.is(process.pid, pid)
  }))

test.whole('a killed process costs one request: those that wait are answered by the next process', () =>
  withProcess(async (process) => {
    const target = onnxTarget({ name: 'tiny', folder }, process, () => 0)
    const expected = (await target.ask(request('Hi'))).choices[0]!.message.content
    const first = process.pid!
    const stream = (await target.stream(request('Hi', { max_tokens: 380, temperature: 1, seed: 4 })))[
      Symbol.asyncIterator
    ]()
    await stream.next()
    await stream.next()
    const waiting = [target.ask(request('Hi')), target.ask(request('Hi'))]
    globalThis.process.kill(first, 'SIGKILL')
    try {
      for (let next = await stream.next(); !next.done; next = await stream.next());
      assert.unreachable()
    } catch (reason) {
      assert.is((reason as { code?: string }).code, 'ECONNRESET')
      assert.match((reason as Error).message, /SIGKILL/)
    }
    for (const reply of await Promise.all(waiting)) assert.is(reply.choices[0]!.message.content, expected)
    assert.is.not(process.pid, first)
  }),
)

test.whole('the queue is bounded: a call too many is told to retry', () =>
  withProcess(
    async (process) => {
      const target = onnxTarget({ name: 'tiny', folder }, process, () => 0)
      const running = [1, 2, 3].map(() => target.ask(request('Hi', { max_tokens: 60, temperature: 1, seed: 4 })))
      try {
        await target.ask(request('late'))
        assert.unreachable()
      } catch (reason) {
        assert.equal((reason as DialectError).error.status, 429)
        assert.ok((reason as DialectError).error.retryAfterMs! > 0)
      }
      await Promise.all(running)
    },
    { waiting: 2 },
  ),
)

test('a caller that leaves the queue is passed over', () =>
  withProcess(async (process) => {
    const target = onnxTarget({ name: 'tiny', folder }, process, () => 0)
    const first = target.ask(request('Hi', { max_tokens: 60, temperature: 1, seed: 4 }))
    const stop = new AbortController()
    const leaving = target.ask(request('Hi'), stop.signal).then(
      () => 'answered',
      (reason: Error) => reason.message,
    )
    const last = target.ask(request('Hi'))
    stop.abort(new Error('left'))
    assert.is(await leaving, 'left')
    await first
    assert.ok((await last).choices[0]!.message.content)
  }))

test.whole('an idle process ends, and the next call starts another', () =>
  withProcess(
    async (process) => {
      const target = onnxTarget({ name: 'tiny', folder }, process, () => 0)
      await target.ask(request('Hi'))
      const first = process.pid!
      await until(() => process.pid !== first)
      await target.ask(request('Hi'))
      assert.is.not(process.pid, first)
    },
    { idleMs: 20 },
  ),
)

test('a stop text ends the answer and is not part of it', () =>
  withProcess(async (process) => {
    const target = onnxTarget({ name: 'tiny', folder }, process, () => 0)
    const whole = String((await target.ask(request('Hi', { max_tokens: 40 }))).choices[0]!.message.content)
    const stop = whole.slice(4, 7)
    const reply = await target.ask(request('Hi', { max_tokens: 40, stop }))
    assert.is(reply.choices[0]!.message.content, whole.slice(0, whole.indexOf(stop)))
    assert.is(reply.choices[0]!.finish_reason, 'stop')
  }))

test('the same seed gives the same answer, another one another', () =>
  withProcess(async (process) => {
    const target = onnxTarget({ name: 'tiny', folder }, process, () => 0)
    const ask = async (seed: number) =>
      (await target.ask(request('Hi', { temperature: 1.5, seed, max_tokens: 20 }))).choices[0]!.message.content
    const [first, again, other] = [await ask(1), await ask(1), await ask(2)]
    assert.is(first, again)
    assert.is.not(first, other)
  }))

test('a long conversation loses its oldest turns and never the system prompt', () =>
  withProcess(async (process) => {
    const target = onnxTarget({ name: 'tiny', folder }, process, () => 0)
    const turn = (index: number) => [
      { role: 'user' as const, content: `question ${index} ${'x'.repeat(40)}` },
      { role: 'assistant' as const, content: `answer ${index}` },
    ]
    const system = { role: 'system' as const, content: 'Be brief.' }
    const last = { role: 'user' as const, content: 'And now?' }
    const turns = Array.from({ length: 12 }, (_, index) => turn(index))
    const long = await target.ask(request('', { messages: [system, ...turns.flat(), last], max_tokens: 10 }))
    // Each message costs its text, two control tokens, its role and two line breaks; the answer's begin comes last.
    const cost = ({ role, content }: { role: string; content: string }) => role.length + content.length + 4
    const begin = 'assistant'.length + 2
    const tokens = (count: number) =>
      [system, ...turns.slice(turns.length - count).flat(), last].reduce((sum, message) => sum + cost(message), begin)
    const most = [...turns.keys()].filter((count) => tokens(count) <= 390).at(-1)!
    assert.ok(most > 0 && most < turns.length - 1)
    assert.is(long.usage!.prompt_tokens, tokens(most))
    const messages = [system, ...turns.slice(turns.length - most).flat(), last]
    const same = await target.ask(request('', { messages, max_tokens: 10 }))
    assert.is(same.choices[0]!.message.content, long.choices[0]!.message.content)
  }))

test('a message longer than the context is the caller’s mistake, in a provider’s words', () =>
  withProcess(async (process) => {
    const target = onnxTarget({ name: 'tiny', folder }, process, () => 0)
    try {
      await target.ask(request('x'.repeat(1000)))
      assert.unreachable()
    } catch (reason) {
      assert.is((reason as DialectError).error.code, 'context_length_exceeded')
    }
  }))

test('a message that spells a control token does not become one', () =>
  withProcess(async (process) => {
    const target = onnxTarget({ name: 'tiny', folder }, process, () => 0)
    const plain = await target.ask(request('<|im_end|>'))
    // Ten characters and the one that separates them, not one token.
    assert.is(plain.usage!.prompt_tokens, promptOf('').length + 10 + Buffer.byteLength('\u200b'))
  }))

test('unsupported options are refused', () => {
  const refused = (more: Partial<ChatRequest>) => {
    try {
      generationRequest(request('Hi', more))
    } catch (reason) {
      return (reason as Error).message
    }
    return undefined
  }
  assert.match(refused({ n: 2 })!, /one answer at a time/)
  assert.match(refused({ response_format: { type: 'json_object' } })!, /cannot promise JSON/)
  assert.match(refused({ tool_choice: 'required' })!, /tools/)
  const found = { type: 'foreign', dialect: 'anthropic', value: { type: 'search_result' } } as const
  assert.match(refused({ messages: [{ role: 'user', content: [found] }] })!, /text only/)
  assert.is(refused({ response_format: { type: 'text' }, tool_choice: 'auto', n: 1 }), undefined)
})

test('a broken model folder is named', () =>
  withProcess(
    async (process) => {
      const target = onnxTarget({ name: 'tiny', folder }, process, () => 0)
      try {
        await target.ask(request('Hi'))
        assert.unreachable()
      } catch (reason) {
        assert.match((reason as Error).message, /config.json cannot be read: pull the model again/)
      }
    },
    { folder: tmpdir() },
  ))

test('the runner takes the asked model, else the preferred, else the first', async () => {
  const installed = ['a', 'b', 'c'].map((name) => ({ name, folder }))
  const runner = createOnnxRunner({ installed: () => installed, preferred: 'b', clock: Date.now })
  assert.equal([runner.target('c')!.model, runner.target('x')!.model, runner.target(undefined)!.model], ['c', 'b', 'b'])
  const plain = createOnnxRunner({ installed: () => installed, preferred: undefined, clock: Date.now })
  assert.is(plain.target(undefined)!.model, 'a')
  const none = createOnnxRunner({ installed: () => [], preferred: 'b', clock: Date.now })
  assert.is(none.target('b'), undefined)
  await Promise.all([runner, plain, none].map((each) => each.close()))
})

all.run()
