// With --all only: a killed process.

import type { ServerResponse } from 'node:http'
import * as assert from 'uvu/assert'
import { until } from '../../helpers/eventually.ts'
import { type Instances, type InstancesOptions, openInstances } from '../../helpers/postgres/instances.ts'
import { postgresSuite } from '../../helpers/postgres/suite.ts'
import type { Answered, ServingDaemon, SpawnedDaemon } from '../../helpers/program/daemon.ts'
import { completion, json } from '../../helpers/providers/fake-provider.ts'

const { test, server, run } = postgresSuite('rates of several instances')

test('requests, their tokens, and those at the same time are limited over three instances as over one', () =>
  withInstances(openInstances, 3, async ({ limit, ask, held, release }) => {
    await limit({ rpm: 60 })
    const asked: Answered[] = []
    while (asked.length < 200)
      asked.push(...(await Promise.all([0, 1, 2, 0, 1, 2, 0, 1, 2, 0].map((index) => ask(index)))))
    assert.ok(Math.abs(passed(asked) - 60) <= 3, `${passed(asked)} of 60`)
    const refused = asked.find(({ status }) => status === 429)!
    assert.is(refused.headers.get('x-ratelimit-remaining-requests'), '0')
    assert.match(JSON.stringify(refused.body), /60 requests a minute/)

    // Each takes a thousand tokens and a few for its words, until it has ended.
    await limit({ tpm: 30_000 })
    const counted = Array.from({ length: 45 }, (_, at) => ask(at % 3, 'hold'))
    await until(() => held.length >= 28)
    release()
    const passing = passed(await Promise.all(counted))
    assert.ok(passing >= 28 && passing <= 31, `${passing} of 29`)
    await until(async () => Number((await ask(0)).headers.get('x-ratelimit-remaining-tokens')) > 28_000)
    assert.equal([await ask(1), await ask(2)].map(statusOf), [200, 200])

    await limit({ parallel: 4 })
    const running = [0, 1, 1, 2].map((index) => ask(index, 'hold'))
    await until(() => held.length === 4)
    assert.equal((await Promise.all([0, 1, 2].map((index) => ask(index)))).map(statusOf), [429, 429, 429])
    release(1)
    await Promise.race(running)
    await until(async () => (await ask(2)).status === 200)
    release()
    assert.equal((await Promise.all(running)).map(statusOf), [200, 200, 200, 200])
  }))

run()

interface Parts<D extends ServingDaemon | SpawnedDaemon> {
  readonly instances: Instances<D>
  /** Gives the user these limits alone; all instances know of them then. */
  limit(document: object): Promise<void>
  /** Asks an instance for a chat; the provider keeps one that says `hold` waiting. */
  ask(index: number, content?: string): Promise<Answered>
  readonly held: readonly ServerResponse[]
  /** Has the provider answer so many of them, all unless given. */
  release(count?: number): void
}

async function withInstances<D extends ServingDaemon | SpawnedDaemon>(
  open: (url: string, options: InstancesOptions) => Promise<Instances<D>>,
  count: number,
  work: (parts: Parts<D>) => Promise<void>,
): Promise<void> {
  const held: ServerResponse[] = []
  const instances = await open(await server().newMigrated(), {
    count,
    answer(request, response) {
      if (/"hold"/.test(request.body)) held.push(response)
      else json(response, 200, completion('Hello'))
    },
  })
  try {
    const token = await instances.setUp()
    await work({
      instances,
      held,
      async limit(body) {
        const { status } = await instances.all[0]!.call('PUT', '/api/limits/user:admin', { token, body })
        assert.is(status, 200)
        for (const each of instances.all) await each.call('GET', '/api/limits', { token })
      },
      ask: (index, content = 'Hi') =>
        instances.all[index]!.call('POST', '/v1/chat/completions', {
          token,
          body: { messages: [{ role: 'user', content }], model: 'custom-model', max_tokens: 1000 },
        }),
      release(many = held.length) {
        for (const response of held.splice(0, many)) json(response, 200, completion('Hello'))
      },
    })
  } finally {
    await instances.close()
  }
}

function statusOf({ status }: Answered): number {
  return status
}

function passed(answers: readonly Answered[]): number {
  return answers.filter(({ status }) => status === 200).length
}
