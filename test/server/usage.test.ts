import * as assert from 'uvu/assert'
import type { LedgerRow } from '../../src/usage/ledger/ledger.ts'
import { openUsers, type UserDaemon, withUsers } from '../helpers/program/user-daemon.ts'
import { type Answer, completion, json } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'
import { row } from '../storage/contract/ledger.ts'

const test = suite('usage over HTTP')

const counts = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 }

/** Answers with 12 and 5 tokens for 0.25 USD; `FREE` names no cost, and `FAIL` is refused. */
const paid: Answer = (request, response) => {
  const text = String(JSON.parse(request.body).messages.at(-1).content)
  if (text === 'FAIL') return json(response, 400, { error: { message: 'not this' } })
  json(response, 200, { ...completion(text), usage: text === 'FREE' ? counts : { ...counts, cost: 0.25 } })
}

const say = (as: UserDaemon['ada'], content: string) =>
  as('POST', '/api/chat', { messages: [{ role: 'user', content }] })

test('each user sees what he used, and an administrator what all used', async () => {
  await using users = await openUsers({ provider: paid })
  const { ada, bob } = users
  await say(ada, 'one')
  await say(bob, 'FREE')
  await say(bob, 'FAIL')
  const all = await ada('GET', '/api/usage?by=user,model')
  assert.is(all.status, 200)
  assert.equal(
    all.body.rows.map((row: Record<string, unknown>) => [row['user'], row['model'], row['requests'], row['unpriced']]),
    [
      ['ada-1', 'custom-model', 1, 0],
      ['bob-2', 'custom-model', 2, 1],
    ],
  )
  const { rows, total, timezone } = (await bob('GET', '/api/usage?by=')).body
  assert.equal([rows, timezone], [[], 'UTC'])
  assert.equal(total, {
    requests: 2,
    failed: 1,
    input_tokens: 12,
    cached_tokens: 0,
    cache_write_tokens: 0,
    output_tokens: 5,
    reasoning_tokens: 0,
    characters: 0,
    cost_nano: 0,
    unpriced: 1,
    estimated: 0,
    cost_usd: '0',
    cached_percent: 0,
  })
  assert.is((await bob('GET', '/api/usage?user=bob-2')).body.total.requests, 2)
  assert.is((await ada('GET', '/api/usage?user=ada-1')).body.total.cost_usd, '0.25')
  for (const path of ['/api/usage?user=ada-1', '/api/usage/export?user=ada-1'])
    assert.is((await bob('GET', path)).status, 403, path)
})

test('attempts are listed one by one, newest first, by outcome and page, and the last hour by minute; each user sees his own', async () => {
  await using users = await openUsers({ provider: paid })
  const { ada, bob } = users
  await say(ada, 'one')
  await say(bob, 'FREE')
  await say(bob, 'FAIL')
  const listOf = async (as: UserDaemon['ada'], query = '') => {
    const { status, body } = await as('GET', `/api/usage/attempts${query}`)
    assert.is(status, 200, JSON.stringify(body))
    return [body.attempts.map((row: Record<string, unknown>) => `${row['user']} ${row['outcome']}`), body.more]
  }
  assert.equal(await listOf(ada), [['bob-2 failed', 'bob-2 answered', 'ada-1 answered'], false])
  assert.equal(await listOf(ada, '?limit=1&offset=1'), [['bob-2 answered'], true])
  assert.equal(await listOf(ada, '?outcome=failed,broken'), [['bob-2 failed'], false])
  assert.equal(await listOf(ada, `?since=${Date.now() + 60_000}`), [[], false])
  assert.equal(await listOf(bob), [['bob-2 failed', 'bob-2 answered'], false])
  assert.is((await bob('GET', '/api/usage/attempts?user=ada-1')).status, 403)
  assert.is((await bob('GET', '/api/usage/attempts?outcome=lost')).status, 400)
  assert.is((await bob('GET', `/api/usage/attempts?since=${'9'.repeat(99)}`)).status, 400)
  assert.is((await bob('GET', `/api/usage/attempts?since=x`)).status, 400)
  const [row] = (await ada('GET', '/api/usage/attempts?user=ada-1')).body.attempts
  assert.equal([row.cost_usd, row.input_tokens, row.key, row.first_ms, row.reason], ['0.25', 12, null, null, null])
  const [failed] = (await ada('GET', '/api/usage/attempts?outcome=failed')).body.attempts
  assert.match(failed.reason, /^[a-z_]+ [45]\d\d$/, 'a class and a status, never the words of a provider')
  assert.equal(await listOf(ada, `?request=${failed.request}`), [['bob-2 failed'], false])
  assert.equal(await listOf(bob, `?request=${row.request}`), [[], false])
  const sumsOf = async (as: UserDaemon['ada']) => {
    const { minutes } = (await as('GET', '/api/usage/last-hour')).body
    const sum = (name: string) =>
      minutes.reduce((all: number, minute: Record<string, number>) => all + minute[name]!, 0)
    return ['requests', 'failed', 'cost_nano'].map(sum)
  }
  assert.equal(await sumsOf(ada), [3, 1, 250_000_000])
  assert.equal(await sumsOf(bob), [2, 1, 0])
})

test('usage is asked by columns, days, models and plugins; others are refused', async () => {
  await using users = await openUsers({ provider: paid })
  const { ada } = users
  await say(ada, 'one')
  const totalOf = async (query: string) => (await ada('GET', `/api/usage?${query}`)).body.total.requests
  assert.is(await totalOf('plugin=custom&model=custom-model'), 1)
  assert.is(await totalOf('model=other'), 0)
  assert.is(await totalOf(`model=${encodeURIComponent("custom-model' OR 1=1 --")}`), 0)
  assert.is(await totalOf('since=2020-01-01&until=2020-01-02'), 0)
  assert.is(await totalOf(`since=${Date.now() - 3_600_000}&until=${Date.now()}`), 1)
  const byDay = (await ada('GET', '/api/usage?since=2026-01-01')).body
  assert.is(byDay.since, '2026-01-01')
  assert.match(byDay.rows[0].day, /^\d{4}-\d\d-\d\d$/)
  for (const query of [
    'by=price',
    'by=day;model',
    'since=nonsense',
    'since=2026-13-01',
    'since=2026-02-30',
    'until=1e99',
    'key=',
  ])
    assert.is((await ada('GET', `/api/usage?${query}`)).status, 400, query)
  const backwards = await ada('GET', '/api/usage?since=2026-02-01&until=2026-01-01')
  assert.equal(backwards.body.details, ['until: 2026-01-01 is before since, 2026-02-01'])
})

test('an export has each attempt, names of users beside ids, and no formulas', () =>
  withUsers(async ({ bob, installation, url }) => {
    const { ledger, days } = await installation.app.usage()
    const day = days.dayOf(Date.now())
    ledger.book(attempt({ request: 'r1', day, user: 'ada-1', model: '=HYPERLINK("http://x")', plugin: '@sum' }))
    ledger.book(attempt({ request: 'r2', day, user: 'gone', model: 'a,"b"', plugin: null, key: '\tcell' }))
    const read = async (format: string) => {
      const headers = { authorization: 'Bearer ada' }
      return fetch(`${url}/api/usage/export?format=${format}`, { headers })
    }
    const csv = await read('csv')
    assert.is(csv.headers.get('content-type'), 'text/csv; charset=utf-8')
    assert.match(csv.headers.get('content-disposition') ?? '', /filename="usage-[\d-]+\.csv"/)
    const [headings = '', first = '', second = '', ...rest] = (await csv.text()).split('\r\n')
    assert.match(headings, /^time,day,request,attempt,user,username,key,/)
    assert.match(first, /,r1,1,ada-1,,,,'@sum,"'=HYPERLINK\(""http:\/\/x""\)",chat,answered,false,false,10,0,/)
    assert.match(second, /,r2,1,gone,,'\tcell,,,"a,""b""",chat,/)
    assert.match(second, /,0\.000000007,7,shipped,p1,12,,$/)
    assert.equal(rest, [''])
    const rows = JSON.parse(await (await read('json')).text())
    assert.equal(
      rows.map((row: Record<string, unknown>) => [row['request'], row['model'], row['plugin'], row['cost_nano']]),
      [
        ['r1', '=HYPERLINK("http://x")', '@sum', 7],
        ['r2', 'a,"b"', null, 7],
      ],
    )
    assert.equal(
      await (await fetch(`${url}/api/usage/export?format=json`, { headers: { authorization: 'Bearer bob' } })).json(),
      [],
    )
    assert.is((await bob('GET', '/api/usage/export?format=xml')).status, 400)
  }))

test('the metrics count tokens by provider and model, and name no user', async () => {
  await using users = await openUsers({ provider: paid })
  const { ada, url } = users
  await say(ada, 'one')
  await say(ada, 'FREE')
  const text = await (await fetch(`${url}/metrics`)).text()
  const labels = 'gen_ai_provider_name="custom",gen_ai_request_model="custom-model"'
  const lines = text.split('\n').filter((line) => line.startsWith('gen_ai_'))
  for (const line of [
    `gen_ai_client_inference_usage_input_tokens_total{${labels},gen_ai_token_modality="text"} 24`,
    `gen_ai_client_inference_usage_output_tokens_total{${labels},gen_ai_token_modality="text"} 10`,
    `gen_ai_client_inference_operation_input_tokens_bucket{le="16",${labels}} 2`,
    `gen_ai_client_inference_operation_input_tokens_bucket{le="4",${labels}} 0`,
    `gen_ai_client_inference_operation_output_tokens_sum{${labels}} 10`,
    `gen_ai_client_inference_operation_output_tokens_count{${labels}} 2`,
  ])
    assert.ok(lines.includes(line), line)
  assert.not.match(lines.join('\n'), 'ada')
})

test('the ledger is checked, and single attempts are removed while their sums stay', () =>
  withUsers(async ({ ada, installation }) => {
    const { ledger, days } = await installation.app.usage()
    for (const day of ['2026-01-01', '2026-01-02', '2026-01-03']) ledger.book(attempt({ request: day, day }))
    assert.equal((await ada('GET', '/api/usage/check')).body, { ok: true, problems: [] })
    const pruned = await ada('POST', '/api/usage/prune', { before: '2026-01-03' })
    assert.equal(pruned.body, { removed: 2, before: '2026-01-03' })
    assert.is((await ada('GET', '/api/usage?since=2026-01-01')).body.total.requests, 3)
    assert.is((await ada('GET', '/api/usage/export?format=json&since=2026-01-01')).body.length, 1)
    assert.equal((await ada('GET', '/api/usage/check')).body, { ok: true, problems: [] })
    for (const before of ['2999-01-01', 'nonsense', -1, 1e300])
      assert.is((await ada('POST', '/api/usage/prune', { before })).status, 400, String(before))
    assert.is((await ada('POST', '/api/usage/prune', {})).body.removed, 0)
    const today = days.dayOf(Date.now())
    assert.equal((await ada('POST', '/api/usage/prune', { before: today })).body, { removed: 1, before: today })
  }))

test.run()

/** A booked attempt. */
function attempt({ request = 'r', ...more }: Partial<LedgerRow>): LedgerRow {
  return row(request, 1, { at: Date.now(), day: '2026-01-01', user: 'ada-1', ...more })
}
