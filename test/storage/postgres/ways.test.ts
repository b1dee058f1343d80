// With --all only: PostgreSQL.
import { type AddressInfo, connect, createServer } from 'node:net'
import * as assert from 'uvu/assert'
import { openInstances } from '../../helpers/postgres/instances.ts'
import { postgresSuite } from '../../helpers/postgres/suite.ts'
import '../../helpers/cheap-bcrypt.ts'
import { goodPassword } from '../../helpers/program/daemon.ts'

const { test, server, run } = postgresSuite('the ways to PostgreSQL and back')

/** Passes connections on, and counts how often a client speaks after the server has. */
async function openCounter(url: string) {
  let ways = 0
  const proxy = createServer((client) => {
    const target = connect(Number(new URL(url).port), '127.0.0.1')
    let isAnswered = true
    client.on('data', (bytes) => {
      if (isAnswered) ways++
      isAnswered = false
      target.write(bytes)
    })
    target.on('data', (bytes) => {
      isAnswered = true
      client.write(bytes)
    })
    for (const [from, to] of [
      [client, target],
      [target, client],
    ] as const)
      from.on('error', () => {}).on('close', () => to.destroy())
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const counted = new URL(url)
  counted.port = String((proxy.address() as AddressInfo).port)
  return {
    url: counted.href,
    /** The ways of one of several equal pieces of work: the fewest, since the instance also asks by itself now and then. */
    async fewest(work: (at: number) => Promise<unknown>): Promise<number> {
      let least = Number.POSITIVE_INFINITY
      for (let at = 0; at < 20; at++) {
        const before = ways
        await work(at)
        least = Math.min(least, ways - before)
      }
      return least
    },
    close: () => proxy.close(),
  }
}

/**
 * A login within a second of the last one from an address does not read its failures again: two ways fewer. A new memory is
 * followed by a look for earlier statements that it ends.
 */
test('are six for a login; five and two for a new memory and three for a search, beside one that looks for the persona', async () => {
  const counter = await openCounter(await server().newMigrated())
  const instances = await openInstances(counter.url, { count: 1 })
  try {
    const token = await instances.setUp()
    const { call } = instances.all[0]!
    const login = { username: 'admin', password: goodPassword }
    const done = async (path: string, body: object, as: object = { token }) => {
      const { status } = await call('POST', path, { ...as, body })
      assert.ok(status < 300, path)
    }
    const { body: persona } = await call('POST', '/api/personas', { token, body: { name: 'Ada', model: 'm' } })
    const memory = `/api/personas/${persona.id}/memory`
    const ways = {
      login: await counter.fewest(() => done('/api/auth/login', login, {})),
      memory: await counter.fewest((at) => done(memory, { content: `a memory of number ${at} ${'abcdefgh'[at]}` })),
      search: await counter.fewest((at) => done(`${memory}/search`, { query: `number ${at}` })),
    }
    assert.equal(ways, { login: 6, memory: 5 + 2 + 1, search: 3 + 1 })
  } finally {
    await instances.close()
    counter.close()
  }
})

run()
