import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { AppError } from '../../src/errors.ts'
import { databaseName, parseDatabaseUrl } from '../../src/settings/database-url.ts'
import { readSettings } from '../../src/settings/read-settings.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the address of a shared database')

const secret = 'pa55-w0rd'

test('an address of PostgreSQL is taken, and shown without password and parameters', () => {
  const url = `postgres://ada:${secret}@db.example:5433/aichat?sslmode=verify-full&password=${secret}`
  assert.equal(parseDatabaseUrl(url), { url, name: 'postgres://ada@db.example:5433/aichat' })
  assert.is(databaseName(`postgresql://ada:${secret}@[::1]/aichat`), 'postgresql://ada@[::1]/aichat')
  assert.is(databaseName('postgres:///aichat?host=/run/postgresql'), 'postgres:///run/postgresql/aichat')
})

test('any other text is refused in a sentence that does not repeat it', () => {
  const wrong = [
    `mysql://ada:${secret}@h/d`,
    `${secret}`,
    `postgres://ada:${secret}@h`,
    `postgres://ada:${secret}@h/`,
    `postgres://ada:${secret}@h/a/b`,
    `postgres://ada:${secret}#@h/d`,
    `postgres://ada:${secret}@h/d#x`,
    `postgres://ada:${secret} @h/d`,
    `postgres://ada:100%${secret}@h/d`,
    `postgres://ada:${secret}@h:port/d`,
    'postgres:///d',
  ]
  for (const url of wrong) {
    const problem = parseDatabaseUrl(url)
    assert.type(problem, 'string', url)
    assert.not.match(problem as string, secret)
  }
})

test('settings take it from the environment or a file, and name what is wrong with it and its grace together', () => {
  const home = temporaryFolder()
  const file = join(home, 'url')
  writeFileSync(file, `postgres://ada:${secret}@file/d\n`)
  assert.is(readSettings({ AICHAT_HOME: home, DATABASE_URL_FILE: file }, {}).database?.name, 'postgres://ada@file/d')
  rmSync(home, { recursive: true })
  assert.throws(() => readSettings({ AICHAT_HOME: home, DATABASE_URL_FILE: file }, {}), /Invalid settings/)
  assert.is(readSettings({ AICHAT_HOME: home }, {}).database, undefined)
  const read = readSettings({ AICHAT_HOME: home, DATABASE_URL: `postgres://ada:${secret}@h/d` }, {})
  assert.equal([read.database?.name, read.databaseGrace], ['postgres://ada@h/d', 30])
  try {
    readSettings({ AICHAT_HOME: home, DATABASE_URL: `mysql://${secret}`, AICHAT_DB_GRACE: 'long' }, {})
    assert.unreachable()
  } catch (reason) {
    assert.instance(reason, AppError)
    const { exit, details } = reason as AppError
    assert.is(exit, 78)
    assert.is(details.length, 2)
    assert.not.match(details.join(), secret)
  }
})

test.run()
