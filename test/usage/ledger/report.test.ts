import * as assert from 'uvu/assert'
import type { UsageGroup } from '../../../src/usage/ledger/ledger.ts'
import { reportOf } from '../../../src/usage/ledger/report.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('a report of usage')

const sums = {
  ...{ requests: 1, failed: 2, input_tokens: 8, cached_tokens: 4, cache_write_tokens: 5, output_tokens: 6 },
  ...{ reasoning_tokens: 7, characters: 8, cost_nano: 9_000_000_000, unpriced: 10, estimated: 11 },
}
const zero = Object.fromEntries(Object.keys(sums).map((name) => [name, 0]))

test('has the sums of all groups, each with the names that are known', async () => {
  const groups = [
    { ...sums, user: 'u1', key: 'k1' },
    { ...sums, user: 'u2', key: null },
  ]
  const { rows, total } = await report(groups, ['user', 'key'])
  assert.equal(rows, [
    { ...groups[0], cost_usd: '9', cached_percent: 50, username: 'ada', key_name: 'laptop' },
    { ...groups[1], cost_usd: '9', cached_percent: 50 },
  ])
  const twice = Object.fromEntries(Object.entries(sums).map(([name, value]) => [name, 2 * value]))
  assert.equal(total, { ...twice, cost_usd: '18', cached_percent: 50 })
  assert.equal(await report([], ['user']), { rows: [], total: { ...zero, cost_usd: '0', cached_percent: 0 } })
  assert.equal((await report([sums], [])).rows, [])
})

test('has 20,000 groups at the most', async () => {
  assert.is((await report(new Array(20_000).fill(sums), ['user'])).rows.length, 20_000)
  const refusal = await report(new Array(20_001).fill(sums), ['user']).catch(({ details }) => details.join())
  assert.match(refusal, /more than 20000 rows/)
})

function report(groups: readonly object[], by: readonly ('user' | 'key')[]) {
  const store = { sums: async ({ most }: { most: number }) => groups.slice(0, most) as UsageGroup[] }
  return reportOf(store as never, { by } as never, async ({ users, keys }) => ({
    users: new Map([...users].filter((id) => id === 'u1').map((id) => [id, 'ada'])),
    keys: new Map([...keys].map((id) => [id, 'laptop'])),
  }))
}

test.run()
