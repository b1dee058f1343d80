// With --all only: PostgreSQL.

import * as assert from 'uvu/assert'
import { closesInHandshake, openWay } from '../../helpers/postgres/faults.ts'
import { postgresSuite } from '../../helpers/postgres/suite.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'

const { test, server, run } = postgresSuite('commands on a shared database')

const environment = (url: string) => ({
  DATABASE_URL: url,
  JWT_SECRET: 'a secret of the tests that all instances share',
})

test('what is wiped is told to remain where PostgreSQL keeps it, and nothing is told where nothing was wiped', async () =>
  withHome(environment(await server().newDatabase()), async (home) => {
    await said(home, ['persona', 'create', '--name', 'Ada', '-m', 'custom-model', '--prompt', 'Tutor', '--memory'])
    await said(home, ['persona', 'memory', 'add', 'Ada', 'Ada likes tea'])
    await said(home, ['persona', 'backup', 'Ada'])
    const wipe = ['persona', 'memory', 'wipe', 'Ada', '--yes']
    const wiped = await said(home, [...wipe, '--json'])
    assert.equal(JSON.parse(wiped.stdout), {
      deleted: 1,
      backups: { rewritten: 1, removed: 0 },
      may_remain_in: ['exported packages', 'the write-ahead log', 'replicas', 'base backups'],
    })
    assert.match(wiped.stderr, /1 backup of the persona written again/)
    assert.match(
      wiped.stderr,
      /the words may remain in: exported packages, the write-ahead log, replicas, base backups/,
    )
    await said(home, ['persona', 'restore', 'Ada', '--yes'])
    assert.equal(JSON.parse((await said(home, ['persona', 'memory', 'list', 'Ada', '--json'])).stdout).total, 0)
    const again = await said(home, wipe)
    assert.equal([again.stdout, again.stderr], ['0 wiped\n', ''])
  }))

test('each mistake of the address ends a command with 78, a server that does not answer with 69; none tells the password', async () => {
  const good = await server().newDatabase()
  const newer = await server().newDatabase()
  await withHome(environment(newer), async (home) => void (await said(home, ['persona', 'list'])))
  await server().query(`INSERT INTO migration (name) VALUES ('memories-99')`, new URL(newer).pathname.slice(1))
  const [closing, way] = [await closesInHandshake(), await openWay(server().port)]
  way.stall()
  const edited = (change: Partial<URL>) => Object.assign(new URL(good), change).href
  const cases: readonly (readonly [string, number, RegExp])[] = [
    [edited({ password: 'wrong-password' }), 78, /password authentication failed/],
    [edited({ password: '' }), 78, /asks for a password/],
    [edited({ pathname: '/none' }), 78, /database "none" does not exist/],
    [edited({ pathname: '/postgres' }), 78, /permission denied for schema public/],
    [newer, 78, /written by a newer aichat/],
    [edited({ search: 'sslmode=require' }), 78, /over TLS/],
    [good.replace('postgresql:', 'mysql:'), 78, /must begin with postgres:/],
    [edited({ port: '1' }), 69, /ECONNREFUSED/],
    [closing.at(good), 69, /cannot be reached/],
    [way.at(good), 69, /timeout expired/],
  ]
  try {
    for (const [url, code, message] of cases)
      await withHome(environment(url), async (home) => {
        const ended = await home.aichat(['persona', 'list'])
        assert.is(ended.code, code, ended.stderr)
        assert.match(ended.stderr, message)
        assert.not.match(ended.stderr, /database-password|wrong-password|Warning|\n {4}at /)
      })
  } finally {
    await way.close()
    await closing.close()
  }
})

run()

type Home = ReturnType<typeof openFastHome>

async function withHome(given: Readonly<Record<string, string>>, work: (home: Home) => Promise<void>): Promise<void> {
  const home = openFastHome(given)
  try {
    await work(home)
  } finally {
    home.remove()
  }
}

async function said(home: Home, words: readonly string[]) {
  const ended = await home.aichat(words)
  assert.is(ended.code, 0, ended.stderr)
  return ended
}
