// With --all only: PostgreSQL.

import * as assert from 'uvu/assert'
import { openInstances } from '../../helpers/postgres/instances.ts'
import { postgresSuite } from '../../helpers/postgres/suite.ts'

const { test, server, run } = postgresSuite('limits and prices of several instances')

const chat = { messages: [{ role: 'user', content: 'Hi' }], model: 'priced', max_tokens: 1000 }

test('a budget, a price and a rate that one sets hold at the others for the first request after the poll', () =>
  withInstances(async ({ set, statusesAt }) => {
    await set('PUT', '/api/limits/user:admin', { budgets: [{ amount_usd: '2.5', period: 'day' }] })
    assert.equal([await statusesAt(1), await statusesAt(2)], [[503], [503]], 'no price is known')
    await set('PUT', '/api/prices', {
      prices: [{ plugin: 'custom', model: '*', rates: { input: '0', output: '1000' } }],
    })
    assert.equal([await statusesAt(1), await statusesAt(2)], [[200], [200]])
    // Each may cost a dollar and costs little: the others have ended, whose reservations leave no room for a third.
    const oneByOne = [1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0]
    assert.equal(
      await statusesAt(...oneByOne),
      oneByOne.map(() => 200),
    )
    await set('POST', '/api/limits/user:admin/change', { budgets: [{ amount_usd: '0.5', period: 'day' }] })
    assert.equal([await statusesAt(1), await statusesAt(2)], [[429], [429]])
    await set('POST', '/api/limits/user:admin/change', { budgets: [], rpm: 1 })
    assert.equal(
      [await statusesAt(1, 1), await statusesAt(2, 2, 2)],
      [
        [200, 429],
        [429, 429, 429],
      ],
    )
  }))

run()

interface Parts {
  /** Changes something at the first instance, and resolves when the others have polled since. */
  set(method: string, path: string, body: object): Promise<void>
  /** Asks for a chat at each of the instances named, one after the other. */
  statusesAt(...indexes: readonly number[]): Promise<readonly number[]>
}

async function withInstances(work: (parts: Parts) => Promise<void>): Promise<void> {
  const instances = await openInstances(await server().newMigrated())
  try {
    const token = await instances.setUp()
    await work({
      async set(method, path, body) {
        const { status, body: answer } = await instances.all[0]!.call(method, path, { token, body })
        assert.is(status, 200, JSON.stringify(answer))
        await new Promise((resolve) => setTimeout(resolve, 1500))
      },
      async statusesAt(...indexes) {
        const statuses: number[] = []
        for (const index of indexes)
          statuses.push(
            (await instances.all[index]!.call('POST', '/v1/chat/completions', { token, body: chat })).status,
          )
        return statuses
      },
    })
  } finally {
    await instances.close()
  }
}
