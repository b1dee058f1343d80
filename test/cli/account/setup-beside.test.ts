import * as assert from 'uvu/assert'
import { goodPassword, serveHere } from '../../helpers/program/daemon.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat setup beside a daemon')

test('creates no administrator outside a daemon that has none', async () => {
  const daemon = await serveHere()
  const { port } = new URL(daemon.url)
  const own = openFastHome()
  try {
    const input = `${goodPassword}\n`
    const flags = ['--username', 'ada', '--password-stdin']
    const usual = ['config', 'set', 'api.port', port]
    assert.is((await own.aichat(usual)).code, 0)
    for (const [command, words] of [
      ['setup', ['setup', ...flags]],
      ['register', ['register', ...flags]],
      ['users create ada', ['users', 'create', 'ada', '--password-stdin']],
    ] as const) {
      const refused = await own.aichat(words, { input })
      assert.is(refused.code, 64, refused.stderr)
      assert.match(refused.stderr, `works on another data folder than this command`)
      assert.match(refused.stderr, `aichat --server ${daemon.url} ${command}\n`)
      assert.match(refused.stderr, `aichat --local ${command}\n`)
    }
    assert.equal(JSON.parse((await own.aichat(['users', 'list', '--json'])).stdout).users, [])

    // The set-up in the daemon's greeting and its 401s.
    assert.match(daemon.output.stderr, `aichat --server ${daemon.url} setup`)
    const { status, body } = await daemon.call('GET', '/api/plugins')
    assert.is(status, 401)
    assert.match(body.details.join('\n'), `aichat --server ${daemon.url} setup`)
    const made = await own.aichat(['--server', daemon.url, 'setup', ...flags], { input })
    assert.equal([made.code, made.stdout], [0, 'ada\n'], made.stderr)
    assert.match(made.stderr, `aichat login ${daemon.url}`)
    assert.is((await daemon.call('GET', '/')).body.needs_setup, false)

    // A daemon with an administrator does not matter, nor does any with --local.
    assert.is((await own.aichat(['setup', ...flags], { input })).code, 0)
  } finally {
    await daemon.stop()
    own.remove()
  }
})

test('works on the data folder that it shares with the daemon, and on another with --local', async () => {
  const own = openFastHome()
  const daemon = await serveHere({}, own.folder)
  const other = openFastHome()
  try {
    const { port } = new URL(daemon.url)
    const input = `${goodPassword}\n`
    const flags = ['--username', 'ada', '--password-stdin']
    for (const home of [own, other]) assert.is((await home.aichat(['config', 'set', 'api.port', port])).code, 0)
    assert.is((await other.aichat(['--local', 'setup', ...flags], { input })).code, 0)
    assert.is((await daemon.call('GET', '/')).body.needs_setup, true)
    const made = await own.aichat(['setup', ...flags], { input })
    assert.is(made.code, 0, made.stderr)
    assert.is((await daemon.call('GET', '/')).body.needs_setup, false)
  } finally {
    await daemon.stop()
    own.remove()
    other.remove()
  }
})

test.run()
