// Some with --all only: many processes.
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { temporaryFolder } from '../../helpers/folders.ts'
import { goodPassword, type TestDaemon, withDaemon } from '../../helpers/program/daemon.ts'
import { type Ran, runMain } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat login and what goes with it')

/** There is no bus, so there is no keychain: as on a server without a desktop. */
process.env['DBUS_SESSION_BUS_ADDRESS'] = 'unix:path=/nonexistent'
const stdin = '--password-stdin'

test('login keeps the token, and commands go to that server until logout', () =>
  withClient(async ({ daemon, run, home }) => {
    await daemon.register('ada')
    const login = await run(
      ['login', daemon.url, '--username', 'ada', stdin, '--insecure-storage', '--json'],
      goodPassword,
    )
    assert.is(login.code, 0, login.stderr)
    const answer = JSON.parse(login.stdout)
    assert.equal(Object.keys(answer).sort(), ['expires_at', 'server', 'storage', 'user'])
    assert.equal([answer.server, answer.storage, answer.user.username], [daemon.url, 'file', 'ada'])
    assert.is(JSON.parse((await run(['whoami', '--json'])).stdout).id, answer.user.id)
    assert.is(JSON.parse((await run(['whoami', '--json', '--local'])).stdout).id, 'local')
    const { token } = JSON.parse((await run(['auth', 'token', '--json'])).stdout)
    assert.is((await daemon.call('GET', '/api/auth/me', { token })).status, 200)

    const status = await run(['auth', 'status', '--json'])
    const [saved] = JSON.parse(status.stdout).logins
    assert.equal([saved.username, saved.storage, saved.current], ['ada', 'file', true])
    assert.not.ok(status.stdout.includes(token))
    assert.is(statSync(join(home, 'tokens.json')).mode & 0o777, 0o600)

    assert.is((await run(['logout'])).code, 0)
    assert.is((await daemon.call('GET', '/api/auth/me', { token })).status, 401)
    assert.is(JSON.parse((await run(['whoami', '--json'])).stdout).id, 'local')
    assert.is((await run(['logout'])).code, 77)
    assert.is((await run(['auth', 'token'])).code, 77)
    for (const file of readdirSync(home).filter((name) => name.endsWith('.json')))
      assert.not.ok(readFileSync(join(home, file), 'utf8').includes(token), `${file} still holds the token`)
  }))

test('without a keychain nothing is stored unless a file was allowed, and the login is ended', () =>
  withClient(async ({ daemon, run, home }) => {
    await daemon.register('ada')
    const wrong = await run(['login', daemon.url, '--username', 'ada', stdin], 'Wr0ngpassword')
    assert.is(wrong.code, 77, 'the password is told to be wrong first')
    assert.not.match(wrong.stderr, /keychain/)
    const refused = await run(['login', daemon.url, '--username', 'ada', stdin], goodPassword)
    assert.is(refused.code, 69)
    assert.match(refused.stderr, /--insecure-storage/)
    assert.match(refused.stderr, /AICHAT_TOKEN/)
    assert.not.ok(existsSync(join(home, 'logins.json')))
    assert.is((await daemon.accounts.users.counts()).active_sessions, 1, 'the login that could not be kept has ended')
  }))

test('wrong credentials, too many of them, no server, and no password each have their exit code', () =>
  withClient(async ({ daemon, run }) => {
    await daemon.register('ada')
    const login = (words: readonly string[], input?: string) => run(['login', ...words, '--insecure-storage'], input)
    for (let count = 0; count < 5; count++)
      assert.is((await login([daemon.url, '--username', 'ada', stdin], 'Wr0ngpassword')).code, 77)
    const limited = await login([daemon.url, '--username', 'ada', stdin], goodPassword)
    assert.is(limited.code, 75)
    assert.match(limited.stderr, /Try again in 15 minutes/)
    assert.is((await login(['http://127.0.0.1:1', '--username', 'ada', stdin], goodPassword)).code, 69)
    assert.is((await login([daemon.url, '--username', 'ada'])).code, 64)
    assert.is((await login([daemon.url, stdin], goodPassword)).code, 64)
    assert.is((await login([daemon.url, '--username', 'ada', stdin], '\n')).code, 64)
    for (const address of ['ftp://x', 'http://ada:secret@127.0.0.1', 'http://', 'http://x?y=1'])
      assert.is((await login([address, '--username', 'ada', stdin], goodPassword)).code, 64, address)
    assert.is((await login(['http://192.0.2.1', '--username', 'ada', stdin], goodPassword)).code, 64)
  }))

test('a new password ends the lock of an address, and a wrong bound of it is refused', () =>
  withClient(async ({ daemon, run }) => {
    await daemon.register('ada')
    const login = (password: string) =>
      run(['login', daemon.url, '--username', 'ada', stdin, '--insecure-storage'], password)
    for (let count = 0; count < 5; count++) await login('Wr0ngpassword')
    assert.is((await login(goodPassword)).code, 75)
    const reset = await run(['users', 'reset-password', 'ada'], undefined, { AICHAT_HOME: daemon.home })
    assert.is((await login(reset.stdout)).code, 0, reset.stderr)
    const wrong = await run(['whoami'], undefined, { AICHAT_LIMIT_LOGIN_ATTEMPTS: '0' })
    assert.is(wrong.code, 78)
    assert.match(wrong.stderr, /limits\.login_attempts\) must be a whole number from 1 to 1000, not "0"/)
  }))

test('a token can be saved in place of a password, and a bad one is not', () =>
  withClient(async ({ daemon, run }) => {
    const { token } = await daemon.register('ada')
    const login = (input: string) => run(['login', daemon.url, '--token-stdin', '--insecure-storage'], input)
    assert.is((await login('not.a.token\n')).code, 77)
    assert.is((await login(`${token}\n`)).code, 0)
    assert.is((await run(['auth', 'token'])).stdout, `${token}\n`)
  }))

test('a new password renews the saved login', () =>
  withClient(async ({ daemon, run }) => {
    await daemon.register('ada')
    await run(['login', daemon.url, '--username', 'ada', stdin, '--insecure-storage'], goodPassword)
    const before = (await run(['auth', 'token'])).stdout
    assert.is((await run(['passwd', stdin], `${goodPassword}\nN3wpassword\n`)).code, 0)
    assert.is.not((await run(['auth', 'token'])).stdout, before)
    assert.is((await run(['whoami'])).stdout, 'ada (admin)\n')
  }))

test('a login that the server has ended is reported, with the next step', () =>
  withClient(async ({ daemon, run }) => {
    const { user } = await daemon.register('ada')
    await run(['login', daemon.url, '--username', 'ada', stdin, '--insecure-storage'], goodPassword)
    await daemon.accounts.logins.resetPassword(await daemon.accounts.users.get(user.id), 'N3wpassword')
    const refused = await run(['whoami'])
    assert.is(refused.code, 77)
    assert.match(refused.stderr, /aichat login/)
    const logout = await run(['logout'])
    assert.is(logout.code, 0, 'a token that is of no use is forgotten all the same')
    assert.is((await run(['logout'])).code, 77)
  }))

test.whole('a saved token and AICHAT_TOKEN are sent to their own server alone', async () => {
  const seen: (string | undefined)[] = []
  const stranger = createServer((request, response) => {
    seen.push(request.headers.authorization)
    response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"who?","details":[]}')
  }).listen(0, '127.0.0.1')
  await once(stranger, 'listening')
  const elsewhere = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`
  await withClient(async ({ daemon, run }) => {
    const { token } = await daemon.register('ada')
    await run(['login', daemon.url, '--token-stdin', '--insecure-storage'], token)
    assert.is((await run(['whoami', '--server', elsewhere])).code, 77)
    const environment = { AICHAT_SERVER: daemon.url, AICHAT_TOKEN: token }
    assert.is((await run(['whoami', '--server', elsewhere], undefined, environment)).code, 77)
    assert.is((await run(['whoami'], undefined, environment)).code, 0)
    assert.is((await run(['whoami', '--server', daemon.url], undefined, { AICHAT_TOKEN: token })).code, 0)
    // The same machine under another port is another origin.
    assert.equal(seen, [undefined, undefined])
    await run(['whoami', '--server', elsewhere], undefined, { AICHAT_TOKEN: 'for-this-one' })
    assert.equal(seen, [undefined, undefined, 'Bearer for-this-one'])
  })
  stranger.close()
  stranger.closeAllConnections()
})

test('flags that exclude each other are refused', () =>
  withClient(async ({ daemon, run }) => {
    assert.is((await run(['whoami', '--local', '--server', daemon.url])).code, 64)
    assert.is((await run(['whoami', '--as', 'ada', '--server', daemon.url])).code, 64)
  }))

test('in process commands work as the oldest administrator, or as the user --as names, with that user’s rights', () =>
  withClient(async ({ run }) => {
    assert.is((await run(['whoami'])).stdout, 'local (admin)\n')
    assert.is((await run(['whoami', '--as', 'ada'])).code, 67)
    await run(['setup', '--username', 'ada', stdin], goodPassword)
    await run(['users', 'create', 'bob', stdin], goodPassword)
    await run(['users', 'create', 'eve', '--role', 'admin', stdin], goodPassword)
    assert.is((await run(['whoami'])).stdout, 'ada (admin)\n')
    assert.is((await run(['--as', 'BOB', 'whoami'])).stdout, 'bob (user)\n')
    assert.is((await run(['users', 'list', '--as', 'bob'])).code, 77)
    assert.is((await run(['plugin', 'deactivate', '--as', 'bob'])).code, 77)
    assert.is((await run(['plugin', 'list', '--as', 'bob'])).code, 0)
    assert.is((await run(['users', 'list'], undefined, { SINGLE_USER_MODE: 'true' })).code, 77)
    assert.is((await run(['whoami', '--as', 'bob'], undefined, { SINGLE_USER_MODE: 'true' })).code, 77)
    assert.is((await run(['whoami'], undefined, { SINGLE_USER_MODE: 'true' })).code, 0)
  }))

test('listing plugins in process opens no database', () =>
  withClient(async ({ run, home }) => {
    assert.is((await run(['plugin', 'list'])).code, 0)
    assert.is((await run(['plugin', 'activate', 'voxb-tts'])).code, 0)
    assert.not.ok(existsSync(join(home, 'aichat.db')))
  }))

test.whole('a key is stored, listed without its value, found, and removed', () =>
  withClient(async ({ run, home }) => {
    const key = 'sk-canary-0123456789'
    assert.is((await run(['secret', 'set', 'GROQ_API_KEY'], key)).code, 69, 'not into a file unasked')
    const set = await run(['secret', 'set', 'GROQ_API_KEY', '--insecure-storage', '--json'], `${key}\n`)
    assert.equal([set.code, JSON.parse(set.stdout)], [0, { name: 'GROQ_API_KEY', stored: 'file' }])
    assert.is(statSync(join(home, 'secrets.json')).mode & 0o777, 0o600)
    const environment = { MISTRAL_API_KEY: 'from-the-environment' }
    const list = await run(['secret', 'list', '--json'], undefined, environment)
    assert.equal(JSON.parse(list.stdout).secrets, [
      { name: 'GROQ_API_KEY', from: 'file' },
      { name: 'MISTRAL_API_KEY', from: 'environment' },
    ])
    assert.is(JSON.parse((await run(['plugin', 'show', 'groq', '--json'])).stdout).key_set, true)
    assert.is((await run(['secret', 'remove', 'GROQ_API_KEY'])).code, 0)
    assert.is((await run(['secret', 'remove', 'GROQ_API_KEY'])).code, 67)
    for (const [name, value] of [
      ['PATH', key],
      ['JWT_SECRET', key],
      ['groq', key],
      ['GROQ_API_KEY', 'two words'],
    ] as const)
      assert.is((await run(['secret', 'set', name, '--insecure-storage'], value)).code, 65, name)
    assert.is((await run(['secret', 'list', '--server', 'http://127.0.0.1:1'])).code, 64)
  }),
)

test.run()

interface Client {
  readonly daemon: TestDaemon
  readonly home: string
  run(words: readonly string[], input?: string, environment?: Record<string, string>): Promise<Ran>
}

/** A server, and a client of it with a home of its own. */
async function withClient(work: (client: Client) => Promise<void>): Promise<void> {
  const home = temporaryFolder()
  await withDaemon((daemon) =>
    work({
      daemon,
      home,
      run: (words, input, environment = {}) =>
        runMain(words, {
          environment: { AICHAT_HOME: home, HOME: home, OLLAMA_HOST: '127.0.0.1:9', ...environment },
          ...(input !== undefined && { input }),
        }),
    }),
  )
}
