import * as assert from 'uvu/assert'
import { openLogins, type SavedLogin } from '../../src/app/logins.ts'
import type { Settings } from '../../src/settings/read-settings.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('saved logins')

const login = (server: string): SavedLogin => ({ server, username: 'ada', expires_at: 1, storage: 'file' })

test('one that is forgotten takes its token with it, and is the current one no longer; another one stays so', async () => {
  const folder = temporaryFolder()
  const logins = openLogins({ paths: { config: folder } as Settings['paths'] })
  assert.equal(logins.read(), { current: null, logins: [] })
  await logins.forget('https://never.example')
  await logins.save(login('https://one.example'), 'token one', true)
  await logins.save(login('https://two.example'), 'token two', false)
  assert.is(logins.read().current, 'https://one.example')
  await logins.forget('https://two.example')
  assert.equal(logins.read(), { current: 'https://one.example', logins: [login('https://one.example')] })
  assert.is(await logins.token('https://two.example'), undefined)
  await logins.save(login('https://one.example'), 'newer token', false)
  assert.equal(logins.read().logins.length, 1)
  assert.equal(await logins.token('https://one.example/any/path'), { token: 'newer token', from: 'file' })
  await logins.forget('https://one.example')
  assert.equal(logins.read(), { current: null, logins: [] })
  await logins.save(login('https://one.example'), 'third token', true)
  assert.is((await logins.token('https://one.example'))?.token, 'third token')
})

test.run()
