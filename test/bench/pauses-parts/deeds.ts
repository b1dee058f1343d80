/** What one user does beyond a single large request: what a model answers, what is kept, and a ledger of a year. */

import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { ledgerColumns } from '../../../src/storage/shared/ledger-rows.ts'
import type { SpawnedDaemon } from '../../helpers/program/daemon.ts'
import { completion, completionEvents, json, type Received } from '../../helpers/providers/fake-provider.ts'

/** A deed that is measured; what it needs has been made before it is given. */
export interface Deed {
  readonly name: string
  /** Resolves with what came of it. */
  run(): Promise<string>
}

/** The most calls of tools that an answer may have; texts a little below what is kept of an input, and what an answer may have. */
const calls = Array.from({ length: 1000 }, (_, index) => ({ id: `call_${index}`, text: 'word '.repeat(200) }))
const [longInput, longAnswer] = ['word '.repeat((7.5 * 1024 * 1024) / 5), 'word '.repeat((3.9 * 1024 * 1024) / 5)]
const ledgerRows = 1_000_000

const wishes = { calls: 'Call the tool a thousand times.', length: 'Write at length.' }

/** Answers a request that wishes for many calls or for a long text; false for any other. */
export function answerWish({ body }: Received, response: ServerResponse): boolean {
  const wish = body.length > 10_000 ? undefined : Object.values(wishes).find((text) => body.includes(text))
  if (wish === undefined) return false
  const toolCalls = calls.map(({ id, text }, index) => ({
    ...{ index, id, type: 'function' },
    function: { name: 'note', arguments: JSON.stringify({ text }) },
  }))
  if (body.includes('"stream":true')) {
    const pieces = wish === wishes.calls ? toolCalls.map(() => 'x') : (longAnswer.match(/.{1,1000}/g) ?? [])
    const events = completionEvents(pieces)
    const asCall = (event: string, index: number) =>
      event.replace('"content":"x"', `"tool_calls":[${JSON.stringify(toolCalls[index - 1])}]`)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end((wish === wishes.calls ? events.map(asCall) : events).join(''))
    return true
  }
  const whole = completion(wish === wishes.length ? longAnswer : '') as { choices: { message: object }[] }
  if (wish === wishes.calls) Object.assign(whole.choices[0]!.message, { tool_calls: toolCalls })
  json(response, 200, whole)
  return true
}

/** The deeds, one after the other; those without `only` in their names are left out with what they need. */
export async function* deeds({ call, home, url }: SpawnedDaemon, token: string, only: string): AsyncGenerator<Deed> {
  const ask = async (method: string, path: string, body?: object) => {
    const { status, body: answer } = await call(method, path, { token, body })
    if (status >= 400) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer).slice(0, 1000)}`)
    return answer
  }
  const deed = (name: string, method: string, path: string, body?: object): Deed => ({
    name,
    run: async () => {
      const { status, body: answer } = await call(method, path, { token, body })
      const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
      return status < 400 ? `${status}, ${(text.length / 1e6).toFixed(1)} MB` : `${status}: ${text.slice(0, 200)}`
    },
  })
  const asking = (name: string, path: string, body: object) => deed(name, 'POST', path, body)
  const chosen = (all: readonly Deed[]) => all.filter(({ name }) => name.includes(only))

  yield* chosen(
    [false, true].flatMap((stream) =>
      Object.entries(bodiesOf(wishes.calls)).map(([path, body]) =>
        asking(`1,000 tool calls of a model, ${stream ? 'streamed' : 'whole'} on ${path}`, path, { ...body, stream }),
      ),
    ),
  )
  yield* chosen(
    Object.entries(bodiesWithCalls).map(([path, body]) =>
      asking(`1,000 tool calls with results to ${path}`, path, body),
    ),
  )
  const prices = calls.map(({ id }) => ({
    plugin: 'custom',
    model: id,
    rates: { input: '1', output: '2' },
    valid_from: '2026-01-01',
  }))
  yield* chosen([deed('1,000 prices, the most of one request', 'PUT', '/api/prices', { prices })])
  if ('kept response'.includes(only) || only.includes('kept response')) {
    const path = '/v1/responses'
    const body = { model: 'custom-model', input: wishes.length }
    // The first response loads the modules of all.
    await ask('POST', path, { ...body, input: 'Hello' })
    yield asking('kept response, asked with 7.5 MiB', path, { ...body, input: longInput })
    yield asking('kept response of 3.9 MiB, whole', path, body)
    yield asking('kept response of 3.9 MiB, streamed', path, { ...body, stream: true })
    const { id } = await ask('POST', path, body)
    yield deed('kept response of 3.9 MiB, read', 'GET', `${path}/${id}`)
    const { id: large } = await ask('POST', path, { ...body, input: longInput })
    yield asking('kept response, continued after 7.5 MiB', path, {
      ...body,
      input: 'Go on',
      previous_response_id: large,
    })
    yield deed('kept response, its items of 7.5 MiB', 'GET', `${path}/${large}/input_items`)
  }
  if (only !== '' && !only.includes('ledger')) return
  await ask('POST', '/v1/chat/completions', bodiesOf('Hello')['/v1/chat/completions'])
  await ask('GET', '/api/usage')
  multiplyLedger(join(home, 'aichat.db'))
  const since = 'since=2000-01-01'
  for (const format of ['csv', 'json'])
    yield {
      name: `a ledger of 1,000,000 rows, exported as ${format}`,
      async run() {
        const headers = { authorization: `Bearer ${token}` }
        const { status, body } = await fetch(`${url}/api/usage/export?${since}&format=${format}`, { headers })
        let bytes = 0
        for await (const piece of body!) bytes += piece.length
        return `${status}, ${(bytes / 1e6).toFixed(1)} MB`
      },
    }
  for (const by of ['model', 'day', 'day,model,key'])
    yield deed(`a ledger of 1,000,000 rows, a year by ${by}`, 'GET', `/api/usage?${since}&by=${by}`)
}

/** A request with one user's text and a tool, in each API. */
function bodiesOf(text: string) {
  const tool = { name: 'note', description: 'Notes a text.' }
  const schema = { type: 'object', properties: { text: { type: 'string' } } }
  const shared = { model: 'custom-model', messages: [{ role: 'user', content: text }] }
  const functions = [{ type: 'function', function: { ...tool, parameters: schema } }]
  return {
    '/v1/chat/completions': { ...shared, tools: functions },
    '/api/chat': { ...shared, tools: functions },
    '/v1/messages': { ...shared, max_tokens: 16, tools: [{ ...tool, input_schema: schema }] },
    '/v1/responses': {
      model: 'custom-model',
      input: text,
      tools: [{ type: 'function', ...tool, parameters: schema }],
    },
  }
}

const user = { role: 'user', content: 'Hello' }
const bodiesWithCalls = {
  '/v1/chat/completions': {
    model: 'custom-model',
    messages: [
      user,
      {
        role: 'assistant',
        content: null,
        tool_calls: calls.map(({ id, text }) => ({
          ...{ id, type: 'function' },
          function: { name: 'note', arguments: JSON.stringify({ text }) },
        })),
      },
      ...calls.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text })),
    ],
  },
  '/v1/messages': {
    model: 'custom-model',
    max_tokens: 16,
    messages: [
      user,
      {
        role: 'assistant',
        content: calls.map(({ id, text }) => ({ type: 'tool_use', id, name: 'note', input: { text } })),
      },
      { role: 'user', content: calls.map(({ id, text }) => ({ type: 'tool_result', tool_use_id: id, content: text })) },
    ],
  },
  '/v1/responses': {
    model: 'custom-model',
    input: [
      user,
      ...calls.map(({ id, text }) => ({
        ...{ type: 'function_call', call_id: id, name: 'note' },
        arguments: JSON.stringify({ text }),
      })),
      ...calls.map(({ id, text }) => ({ type: 'function_call_output', call_id: id, output: text })),
    ],
  },
}

/** Makes a million rows of the first one, spread over the year before it, 12 models and 40 keys, and their sums by day. */
function multiplyLedger(path: string): void {
  const database = new BetterSqlite3(path, { timeout: 60_000 })
  const name = database.prepare('INSERT INTO ledger_name (name) VALUES (?)')
  const [models, keys] = [12, 40].map((count) =>
    Array.from({ length: count }, (_, index) => Number(name.run(`${count}-${index}`).lastInsertRowid)),
  )
  const other: Partial<Record<string, string>> = {
    request: "request || '-' || i",
    at: 'at - i * 31536',
    day: "CAST(strftime('%Y%m%d', (at - i * 31536) / 1000, 'unixepoch') AS integer)",
    model: `${models![0]} + i % ${models!.length}`,
    api_key: `${keys![0]} + i * 7 % ${keys!.length}`,
  }
  const columns = Object.keys(ledgerColumns)
  const sums = 'input cached cache_write output reasoning characters cost'.split(' ')
  database.exec(`
    WITH RECURSIVE n (i) AS (SELECT ${ledgerRows - 1} UNION ALL SELECT i - 1 FROM n WHERE i > 1)
      INSERT INTO ledger (${columns}) SELECT ${columns.map((column) => other[column] ?? column)} FROM n, (SELECT * FROM ledger LIMIT 1);
    DELETE FROM ledger_day;
    INSERT INTO ledger_day (day, "user", api_key, plugin, model, requests, failed, ${sums}, unpriced, estimated)
      SELECT day, "user", coalesce(api_key, 0), coalesce(plugin, 0), model, count(*), 0,
        ${sums.map((sum) => `coalesce(sum(${sum}), 0)`)}, count(*), sum(estimated) FROM ledger GROUP BY 1, 2, 3, 4, 5;`)
  database.close()
}
