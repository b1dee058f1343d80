// Some with --all only: a whole sample.
import * as assert from 'uvu/assert'
import { escapedJson, isPrintableLine, printableLine, stripControls } from '../../src/formats/terminal-text.ts'
import { goodPassword, withDaemon } from '../helpers/program/daemon.ts'
import { openInstallation, pluginAt } from '../helpers/program/installation.ts'
import { runMain } from '../helpers/program/terminal.ts'
import { anyCharacter, fc } from '../helpers/properties.ts'
import { completion, completionEvents, json, openStandIn } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('untrusted text')

/** Characters that turn the direction of writing, hide, or control a terminal. */
const harmful = [
  ...['\u0000', '\u0007', '\u001b[2J', '\u007f', '\u009b31m', '\u061c', '\u180e', '\u200b', '\u200e', '\u200f'],
  ...['\u2028', '\u2029', '\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2060', '\u2066', '\u2067'],
  ...['\u2068', '\u2069', '\u206f', '\ufeff', '\ufff9', '\u{e0001}', '\u{e0061}'],
]

/** Names with signs that join or choose, as they are written. */
const names = [
  'Ada Lovelace',
  '\u5c71\u7530\u3055\u3093',
  'Gr\u00fc\u00dfe',
  '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645',
  '\u0915\u094d\u200d\u0937',
  '\u{1f468}\u200d\u{1f469}\u200d\u{1f467} Bot',
  '\u{1f469}\u{1f3fd}\u200d\u{1f680}',
  '\u2764\ufe0f\u200d\u{1f525}',
  '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
  '\u845b\u{e0100}\u57ce',
]

test('a line shows all that it holds, or is none', () => {
  for (const name of names)
    assert.equal([isPrintableLine(name), printableLine(name), stripControls(name)], [true, name, name])
  for (const sign of [...harmful, '\n', '\t', '\r', '\u00ad', '\u3164', '\ud800', '\u034f', '\u{e0101}'])
    for (const text of [`a${sign}b`, `${sign}ab`, `ab${sign}`])
      assert.equal([isPrintableLine(text), isPrintableLine(printableLine(text))], [false, true], JSON.stringify(text))
  for (const text of ['a\u200db', 'Ada\u200c', '\u200dAda', 'a\u200c'])
    assert.not.ok(isPrintableLine(text), JSON.stringify(text))
  assert.is(stripControls('two\nlines\tand\r\na tab'), 'two\nlines\tand\r\na tab')
})

test('escaped JSON is the same value and holds nothing harmful', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string({ unit: anyCharacter }), fc.constantFrom(...harmful))), (texts) => {
      const escaped = escapedJson(JSON.stringify(texts))
      assert.equal(JSON.parse(escaped), texts)
      assert.is(stripControls(escaped), escaped)
    }),
  )
})

test('a long text costs no more than its length: a million tags, joiners or marks', () => {
  for (const sign of ['\u{e0061}', '\u200d', '\u0301', '\u{1f3f4}', '\u202e']) {
    const long = sign.repeat(1_000_000)
    assert.type(stripControls(long), 'string')
    assert.type(isPrintableLine(long.slice(0, 20_000)), 'boolean')
  }
})

test.whole('names with invisible characters are refused everywhere alike', () =>
  withDaemon(async ({ call, register }) => {
    const { token, user } = await register('ada')
    const body = async (path: string, value: unknown) => (await call('POST', path, { token, body: value })).body
    const persona = await body('/api/personas', { name: 'Eve', model: 'm' })
    const session = await body('/api/sessions', { name: 'Monday' })
    const own = `/api/personas/${persona.id}`
    const email = (name: string) => `${name}@example.org`
    const places: readonly (readonly [string, string, (name: string) => unknown])[] = [
      ['POST', '/api/auth/register', (username) => ({ username, password: goodPassword })],
      ['POST', '/api/users', (username) => ({ username, password: goodPassword })],
      ['POST', '/api/users', (name) => ({ username: 'bob', password: goodPassword, email: email(name) })],
      ['PUT', `/api/users/${user.id}`, (username) => ({ username })],
      ['POST', '/api/personas', (name) => ({ name, model: 'm' })],
      ['POST', '/api/personas', (model) => ({ name: 'Zoe', model })],
      ['PUT', own, (name) => ({ name })],
      ['POST', '/api/sessions', (name) => ({ name })],
      ['PUT', `/api/sessions/${session.id}`, (name) => ({ name })],
      ['POST', `${own}/memory`, (category) => ({ content: 'x', metadata: { category } })],
      ['POST', `${own}/memory`, (speaker) => ({ content: 'x', metadata: { speaker } })],
      ['POST', '/api/plugins/install', (name) => pluginAt('https://chat.example', { name })],
      ['POST', '/api/plugins/install', (id) => pluginAt('https://chat.example', { id: `a${id}` })],
    ]
    for (const sign of ['\u202e', '\u2066', '\u200b', '\ufeff', '\u061c', '\u{e0061}', '\u0085', '\u200d'])
      for (const [method, path, input] of places) {
        const answer = await call(method, path, { token, body: input(`ev${sign}e`) })
        assert.is(answer.status, 400, `${method} ${path} ${JSON.stringify(input(sign))}`)
        assert.is(stripControls(JSON.stringify(answer.body)), JSON.stringify(answer.body))
      }
    for (const name of names) {
      const made = await call('POST', '/api/personas', { token, body: { name, model: 'm' } })
      assert.equal([made.status, made.body.name], [201, name])
    }
  }),
)

test('no text controls the terminal: answers, tools, failures, conversations and JSON', async () => {
  const nasty = `x${harmful.join('y')}z`
  const stand = await openStandIn(({ body }, response) => {
    const { stream, messages } = JSON.parse(body)
    if (messages.at(-1).content === 'fail') return json(response, 400, { error: { message: nasty } })
    if (!stream) return json(response, 200, completion(nasty))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(completionEvents(['a', nasty, 'b']).join(''))
  })
  const installation = openInstallation({ CUSTOM_API_KEY: 'key' })
  await installation.app.plugins.install(pluginAt(stand.url))
  await installation.app.plugins.activate('custom')
  const environment = { AICHAT_HOME: installation.home, HOME: installation.home, CUSTOM_API_KEY: 'key' }
  for (const words of [
    ['chat', 'hi', '-s', 'one', '--no-fallback'],
    ['chat', 'hi', '-s', 'one', '-S', '--no-fallback'],
    ['chat', 'hi', '-s', 'one', '--json', '--no-fallback'],
    ['chat', nasty, '-s', 'one', '--dry-run'],
    ['chat', 'fail', '--no-fallback', '--debug'],
    ['chat', 'fail', '--no-fallback', '--json', '--debug'],
    ['chat', 'fail'],
    ['session', 'show', 'one'],
    ['session', 'show', 'one', '--json'],
    ['session', 'export', 'one'],
    ['session', 'export', 'one', '--format', 'json'],
    ['plugin', 'show', nasty],
    ['plugin', 'show', nasty, '--json'],
  ]) {
    const { stdout, stderr } = await runMain(words, { environment, shown: true })
    // Ours: styles, the busy line, and the redrawing of an answer's last block (test/cli/markdown/hostile.test.ts knows each byte).
    const ours =
      /\u001b\[(?:\d+(?:;\d+)*m|\?2026h(?:\u001b\[\d+A)?\r?(?:\u001b\[J)?|\?2026l)|(?:\u001b\[\d+A)?\r\u001b\[J/g
    const shown = `${stdout}${stderr}`.replace(ours, '')
    assert.is(
      shown.search(/[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/),
      -1,
      words.join(' '),
    )
    assert.not.match(shown, /[\u{e0000}-\u{e007f}]/u)
    assert.ok(shown.length > 0, words.join(' '))
  }
  const piped = await runMain(['session', 'export', 'one'], { environment })
  assert.ok(piped.stdout.includes(nasty), 'a pipe gets it as it is')
  await installation.close()
  await stand.close()
})

test.run()
