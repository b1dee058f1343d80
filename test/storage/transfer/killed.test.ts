// With --all only: a killed process.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { interrupted } from '../../../src/cli/terminal/io.ts'
import { readMovedMark, writeMovedMark } from '../../../src/storage/files/moved-mark.ts'
import { moveToPostgres } from '../../../src/storage/transfer/move-to.ts'
import { postgresSuite } from '../../helpers/postgres/suite.ts'
import { aichatCommand } from '../../helpers/program/command.ts'
import { runMain } from '../../helpers/program/terminal.ts'
import { rejects } from '../../helpers/rejection.ts'
import { dumpOf } from '../../helpers/storage/dump.ts'
import { makeRichFolder } from '../../helpers/storage/rich-folder.ts'
import { openStorageIn } from '../../helpers/storage/test-storage.ts'

const { test, server, run } = postgresSuite('moves that are killed')

/** Lines of progress at which a move is killed: while it copies, compares tables, and compares personas. */
const moments = [/: 10 %/, /: 40 %/, /: 70 %/, /: 90 %/]

test('a move to PostgreSQL that is killed leaves the folder as it was and the database empty, and can be done again', () =>
  withFolder(async (folder) => {
    await makeRichFolder(folder, 400)
    const before = dumpOf(folder)
    const url = await server().newDatabase()
    for (const moment of moments) {
      await killedAt(folder, ['-v', 'db', 'migrate', '--to', url], moment)
      assert.equal(dumpOf(folder), before, String(moment))
      assert.is(readMovedMark(folder), undefined)
      // The server rolls back once it finds the connection ended.
      while ((await sessionsOn(url)) > 0);
      for (const table of ['account', 'persona', 'memory', 'ledger', 'installation'])
        assert.equal(await server().query(`SELECT count(*) FROM ${table}`, nameOf(url)), [['0']], table)
    }
    await (await openStorageIn(folder)).close()
    assert.is((await moveToPostgres({ folder, url, keep: false })).personas, 3)
  }))

test('a move from PostgreSQL that is killed leaves no database in the folder, and can be done again', () =>
  withFolder(async (source) => {
    await makeRichFolder(source, 400)
    const url = await server().newDatabase()
    await moveToPostgres({ folder: source, url, keep: true })
    await withFolder(async (folder) => {
      for (const moment of moments) {
        await killedAt(folder, ['-v', 'db', 'migrate', '--from', url], moment)
        assert.ok(!existsSync(join(folder, 'aichat.db')), String(moment))
      }
      await killedAt(folder, ['-v', 'db', 'migrate', '--from', url])
      assert.equal(dumpOf(folder), dumpOf(source))
      assert.equal(
        readdirSync(folder).filter((name) => name.startsWith('.move-')),
        [],
      )
    })
  }))

test('a move that was cut off between its commit and its mark is found to be done', () =>
  withFolder(async (folder) => {
    await makeRichFolder(folder, 20)
    const url = await server().newDatabase()
    await moveToPostgres({ folder, url, keep: false })
    const mark = readMovedMark(folder)!
    writeMovedMark(folder, { ...mark, state: 'moving' })
    await rejects(openStorageIn(folder), 'configuration', /was cut off at its end.*\n.*migrate --to URL/)
    await rejects(
      moveToPostgres({ folder, url: await server().newDatabase(), keep: false }),
      'configuration',
      /cut off/,
    )
    assert.equal((await moveToPostgres({ folder, url, keep: false })).rows, [])
    assert.is(readMovedMark(folder)?.state, 'moved')
  }))

test('a move that was cut off before its commit begins anew', () =>
  withFolder(async (folder) => {
    await makeRichFolder(folder, 20)
    const url = await server().newDatabase()
    const to = url.replace(/:[^:@/]+@/, '@')
    writeMovedMark(folder, { state: 'moving', to, id: 'of a transaction that was rolled back', at: 0 })
    assert.is((await moveToPostgres({ folder, url, keep: false })).personas, 3)
  }))

test('an aborted move changes nothing', () =>
  withFolder(async (folder) => {
    await makeRichFolder(folder, 100)
    const before = dumpOf(folder)
    const url = await server().newDatabase()
    const stop = new AbortController()
    const onStep = ({ share }: { readonly share: number }) => {
      if (share > 0.3) stop.abort(new Error('stopped'))
    }
    const reason = await moveToPostgres({ folder, url, keep: false, onStep, signal: stop.signal }).catch(
      (thrown) => thrown,
    )
    assert.is((reason as Error).message, 'stopped')
    assert.equal(dumpOf(folder), before)
    assert.equal(await server().query('SELECT count(*) FROM account', nameOf(url)), [['0']])
    await (await openStorageIn(folder)).close()
  }))

test('Ctrl-C ends a move from PostgreSQL in the middle of a copy, and says that nothing was moved', () =>
  withFolder(async (source) => {
    await makeRichFolder(source, 400)
    const url = await server().newDatabase()
    await moveToPostgres({ folder: source, url, keep: true })
    await withFolder(async (folder) => {
      const stop = new AbortController()
      const { code, stderr } = await runMain(['-v', 'db', 'migrate', '--from', url], {
        environment: { AICHAT_HOME: folder, HOME: folder },
        signal: stop.signal,
        heard(_name, text) {
          if (/: 10 %, copying/.test(text)) stop.abort(interrupted)
        },
      })
      assert.is(code, 130, stderr)
      assert.match(stderr, 'aichat: stopped: nothing was moved, and both sides are as they were')
      assert.equal(readdirSync(folder), [])
    })
  }))

run()

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'aichat-transfer-'))
  try {
    await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Runs a command that is killed as it says something, before it does anything more; without that, waits for its end. */
async function killedAt(folder: string, words: readonly string[], moment?: RegExp): Promise<void> {
  const [program, ...args] = aichatCommand
  const child = spawn(program!, [...args, ...words], {
    env: { PATH: process.env['PATH'], AICHAT_HOME: folder, HOME: folder, ...(moment && dyingAt(moment)) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let told = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    told += text
  })
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  assert.equal([code, signal], moment ? [null, 'SIGKILL'] : [0, null], told)
}

/** Has a program kill itself with what it writes to stderr: on a busy machine it would be done before this process reads that. */
function dyingAt(moment: RegExp): Record<string, string> {
  const script = `const write = process.stderr.write
process.stderr.write = function (text, ...rest) {
  const isTaken = write.call(this, text, ...rest)
  if (${moment}.test(String(text))) process.kill(process.pid, 'SIGKILL')
  return isTaken
}`
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` }
}

async function sessionsOn(url: string): Promise<number> {
  const rows = await server().query(
    `SELECT count(*) FROM pg_stat_activity WHERE datname = '${nameOf(url)}' AND backend_type = 'client backend'`,
  )
  return Number(rows[0]![0])
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1)
}
