import * as assert from 'uvu/assert'
import { readResponse as readAnthropicWhole } from '../../../src/chat/dialects/anthropic/response.ts'
import { createStreamReader as readAnthropic } from '../../../src/chat/dialects/anthropic/stream-reader.ts'
import { readResponse as readGemini } from '../../../src/chat/dialects/gemini/response.ts'
import { createStreamReader as readOllama } from '../../../src/chat/dialects/ollama/stream-reader.ts'
import { readResponse as readOpenai } from '../../../src/chat/dialects/openai/response.ts'
import { createStreamReader as readOpenaiStream } from '../../../src/chat/dialects/openai/stream-reader.ts'
import type { MeteredAttempt } from '../../../src/chat/metering.ts'
import type { StreamReader } from '../../../src/chat/protocol/dialect.ts'
import { AnswerTokens } from '../../../src/chat/protocol/token-estimate.ts'
import { usageSoFar } from '../../../src/chat/protocol/usage-so-far.ts'
import type { Amounts } from '../../../src/usage/cost.ts'
import type { LedgerRow } from '../../../src/usage/ledger/ledger.ts'
import { amountsOf } from '../../../src/usage/metering/amounts.ts'
import { createMetering } from '../../../src/usage/metering/metering.ts'
import { pluck } from '../../helpers/pluck.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('metering')

const openai = (usage: unknown, more = {}) =>
  amountsOf(readOpenai({ id: 'a', model: 'm', choices: [{ index: 0, message: { content: 'x' } }], usage, ...more }))

test('the amounts of OpenAI’s dialect lie within prompt and completion, and its cost is kept, also one of 0', () => {
  assert.equal(
    openai(
      {
        prompt_tokens: 100,
        completion_tokens: 50,
        prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 10, audio_tokens: 5 },
        completion_tokens_details: { reasoning_tokens: 30, audio_tokens: 7, rejected_prediction_tokens: 4 },
      },
      { service_tier: 'flex' },
    ),
    {
      input: 100,
      output: 50,
      cached: 40,
      cacheWrite: 10,
      reasoning: 30,
      audioInput: 5,
      audioOutput: 7,
      serviceTier: 'flex',
    },
  )
  const counts = { prompt_tokens: 3, completion_tokens: 4 }
  const reported = (more: object) => (openai({ ...counts, ...more }) as Amounts).reportedNano
  assert.equal([reported({ cost: 0.00006 }), reported({ cost: 0 })], [60_000, 0])
  assert.is(reported({ cost: 0.001, is_byok: true, cost_details: { upstream_inference_cost: 0.02 } }), 21_000_000)
  for (const odd of [{}, { cost: -1 }, { cost: 'free' }, { cost: 0.001, is_byok: true }])
    assert.is(reported(odd), undefined, JSON.stringify(odd))
})

test('Groq’s counts count once, wherever they stand', () => {
  const usage = { prompt_tokens: 18, completion_tokens: 73, total_tokens: 91 }
  const chunk = (more: object, choices: unknown[] = []) =>
    `data: ${JSON.stringify({ id: 'a', object: 'chat.completion.chunk', created: 1, model: 'm', choices, ...more })}\n\n`
  const text = chunk({}, [{ index: 0, delta: { role: 'assistant', content: 'hi' }, finish_reason: null }])
  const end = [{ index: 0, delta: {}, finish_reason: 'stop' }]
  for (const last of [
    chunk({ x_groq: { id: 'r', usage } }, end),
    chunk({ x_groq: { id: 'r', usage }, usage }, end),
    chunk({ x_groq: { id: 'r', usage } }, end) + chunk({ usage }),
  ]) {
    const { row } = metered((attempt) => readInto(attempt, readOpenaiStream(), `${text}${last}data: [DONE]\n\n`))
    assert.equal([row?.amounts, row?.estimated], [{ input: 18, output: 73 }, false])
  }
})

test('Anthropic’s three inputs are added, and the end of a stream keeps the split of its beginning', () => {
  const begin = {
    input_tokens: 10,
    cache_read_input_tokens: 200,
    cache_creation_input_tokens: 50,
    cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 30 },
    output_tokens: 1,
    service_tier: 'priority',
    speed: 'fast',
  }
  const amounts = {
    input: 260,
    cached: 200,
    cacheWrite: 20,
    cacheWriteLong: 30,
    serviceTier: 'priority',
    speed: 'fast',
  }
  const whole = { id: 'a', model: 'claude', content: [{ type: 'text', text: 'hi' }], stop_reason: 'end_turn' }
  assert.equal(amountsOf(readAnthropicWhole({ ...whole, usage: { ...begin, output_tokens: 9 } })), {
    ...amounts,
    output: 9,
  })
  const event = (type: string, more: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
  const start =
    event('message_start', { message: { id: 'a', role: 'assistant', content: [], model: 'claude', usage: begin } }) +
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'x'.repeat(400) } })
  const end =
    event('content_block_stop', { index: 0 }) +
    event('message_delta', {
      delta: { stop_reason: 'end_turn' },
      usage: { input_tokens: 10, cache_read_input_tokens: 200, cache_creation_input_tokens: 50, output_tokens: 88 },
    }) +
    event('message_stop', {})
  const ended = metered((attempt) => readInto(attempt, readAnthropic(), start + end))
  assert.equal([ended.row?.amounts, ended.row?.estimated], [{ ...amounts, output: 88 }, false])
  const broken = metered((attempt) => readInto(attempt, readAnthropic(), start), 'broken')
  assert.equal([broken.row?.amounts, broken.row?.estimated], [{ ...amounts, output: 102 }, true])
  // The count of the answer comes before its end.
  const counted = end.slice(0, end.indexOf('event: message_stop'))
  const late = metered((attempt) => readInto(attempt, readAnthropic(), start + counted), 'cancelled')
  assert.equal([late.row?.amounts, late.row?.estimated], [{ ...amounts, output: 88 }, true])
})

test('Gemini’s tool use and thoughts are added to its prompt and its answer', () => {
  const usageMetadata = {
    promptTokenCount: 10,
    toolUsePromptTokenCount: 6,
    cachedContentTokenCount: 4,
    candidatesTokenCount: 8,
    thoughtsTokenCount: 23,
    totalTokenCount: 47,
    serviceTier: 'standard',
  }
  const candidates = [{ content: { parts: [{ text: 'hi' }] }, finishReason: 'STOP' }]
  assert.equal(amountsOf(readGemini({ candidates, modelVersion: 'g', responseId: 'r', usageMetadata })), {
    input: 16,
    output: 31,
    cached: 4,
    reasoning: 23,
    serviceTier: 'standard',
  })
})

test('Ollama’s answer from its cache tells no prompt, which is estimated', () => {
  const line = (more: object) => `${JSON.stringify({ model: 'l', created_at: '2026-01-01T00:00:00Z', ...more })}\n`
  const text = line({ message: { role: 'assistant', content: 'hi' }, done: false })
  const last = line({ message: { role: 'assistant', content: '' }, done: true, done_reason: 'stop', eval_count: 5 })
  const { row } = metered((attempt) => readInto(attempt, readOllama(), text + last))
  assert.equal([row?.amounts.output, row?.estimated], [5, true])
  assert.ok(row!.amounts.input > 0)
})

test('an attempt is booked once: as it ended first, with estimates where nobody told counts', () => {
  const answered = metered((attempt) => attempt.delivered(98))
  assert.equal([answered.row?.amounts, answered.row?.estimated], [{ input: 15, output: 100 }, true])
  assert.is(answered.row?.lowerBound, false)
  const failed = metered((attempt) => attempt.delivered(0), 'failed')
  assert.equal([failed.row?.amounts, failed.row?.cost.nano], [{ input: 0, output: 0 }, 0])
  assert.equal(metered(() => undefined, 'unsent').rows, [])
  const again = metered((attempt) => {
    attempt.ended('broken')
    attempt.ended('answered')
  })
  assert.equal(pluck(again.rows, 'outcome'), ['broken'])
})

test('a caller who leaves owes at least what was delivered, where the provider goes on', () => {
  const left = metered((attempt) => attempt.delivered(8), 'cancelled', true)
  assert.equal([left.row?.estimated, left.row?.lowerBound, left.row?.amounts.output], [true, true, 10])
  assert.is(metered((attempt) => attempt.delivered(40), 'cancelled').row?.lowerBound, false)
  // No abort reaches an answer that is not streamed.
  assert.is(metered(() => undefined, 'cancelled', false, false).row?.lowerBound, true)
  const told = metered(
    (attempt) => attempt.reported({ usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } }),
    'cancelled',
    true,
  )
  assert.equal([told.row?.estimated, told.row?.lowerBound], [false, false])
})

test('estimates learn from counted answers, also of models that count otherwise than most', () => {
  const rows: LedgerRow[] = []
  const metering = meteringInto(rows)
  const answer = (work: (attempt: MeteredAttempt) => void, ending: 'answered' | 'broken') => {
    const call = metering.begin({ user: 'ada' }, 'chat', () => question)
    const attempt = call.attempt({ plugin: 'p', model: 'm' }) as MeteredAttempt
    work(attempt)
    attempt.ended(ending)
    call.end()
  }
  answer((attempt) => {
    attempt.delivered(196)
    attempt.reported({ usage: { prompt_tokens: 12, completion_tokens: 100, total_tokens: 112 } })
  }, 'answered')
  answer((attempt) => attempt.delivered(96), 'broken')
  assert.is(rows.at(-1)?.amounts.output, 50)
})

test.run()

const question = { messages: [{ role: 'user' as const, content: 'Say something of moderate length.' }] }

function meteringInto(rows: LedgerRow[], goesOn = false) {
  return createMetering({
    ledger: {
      book: (row) => void rows.push(row),
      bookTogether: async (row) => void rows.push(row),
      nextRequest: () => 'r1',
    },
    prices: { costOf: () => ({ nano: 5, source: 'shipped', priceId: 'p' }), mostFor: () => 5 },
    tokens: { add: () => undefined },
    limits: { admit: () => undefined, admitPlugin: () => undefined },
    days: { dayOf: () => '2026-11-22' },
    goesOn: () => goesOn,
    now: () => 0,
    clock: () => 0,
  })
}

/** The rows of one attempt. */
function metered(
  work: (attempt: MeteredAttempt) => void,
  ending: 'answered' | 'failed' | 'broken' | 'cancelled' | 'unsent' = 'answered',
  goesOn = false,
  stream = true,
) {
  const rows: LedgerRow[] = []
  const call = meteringInto(rows, goesOn).begin({ user: 'ada' }, 'chat', () => ({ ...question, stream }))
  const attempt = call.attempt({ plugin: 'p', model: 'm' }) as MeteredAttempt
  work(attempt)
  attempt.ended(ending)
  call.end()
  return { rows, row: rows[0] }
}

function readInto(attempt: MeteredAttempt, reader: StreamReader, text: string): void {
  const answered = new AnswerTokens()
  for (const chunk of reader.push(Buffer.from(text))) {
    for (const { delta } of chunk.choices) attempt.delivered(answered.add(delta, chunk.model))
    if (chunk.usage || chunk.extra_content) attempt.reported(chunk)
    const counts = usageSoFar(chunk)
    if (counts) attempt.reportedSoFar(counts)
  }
}
