import * as assert from 'uvu/assert'
import { readSettings, type Settings, type StoredSettings, settingProblems } from '../../src/settings/read-settings.ts'
import { fixture } from '../helpers/fixture.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('settings')

const environment = { HOME: '/home/ada' }

/** The values of a setting that are taken, and those beyond its bounds, which are refused by its name. */
const bounds =
  fixture<Readonly<Record<string, readonly [taken: readonly string[], refused: readonly string[]]>>>(
    'bounds-of-settings.json',
  )

for (const [name, [taken, refused]] of Object.entries(bounds))
  test(`${name} is taken up to its bounds and refused beyond them`, () => {
    for (const value of taken) assert.equal(settingProblems(environment, { [name]: value }), [], value)
    for (const value of refused) {
      const problems = settingProblems(environment, { [name]: value })
      assert.is(problems.length, 1, value)
      assert.match(problems[0]!, name, value)
    }
  })

test('the two files of TLS belong together', () => {
  const [cert, key] = [{ 'api.tls_cert': '/cert' }, { 'api.tls_key': '/key' }]
  for (const lone of [cert, key]) assert.match(settingProblems(environment, lone).join(), /belong together/)
  assert.equal(settingProblems(environment, { ...cert, ...key }), [])
  assert.equal(read({ ...cert, ...key }).tls, { cert: '/cert', key: '/key' })
  assert.is(read({}).tls, undefined)
})

const readings: readonly (readonly [
  name: string,
  value: string,
  of: (settings: Settings) => unknown,
  result: unknown,
])[] = [
  ['speech.codebooks', '', ({ codebooks }) => codebooks, undefined],
  ['speech.codebooks', '8', ({ codebooks }) => codebooks, 8],
  ['backup.every', '1m', ({ backup }) => backup.every, 60],
  ['backup.every', '', ({ backup }) => backup.every, undefined],
  ['backup.target', '', ({ backup }) => backup.target, undefined],
  ['api.drain_seconds', '2', ({ drainMs }) => drainMs, 2000],
  ['api.public_hosts', ' a.example,, b.example ', ({ publicHosts }) => publicHosts, ['a.example', 'b.example']],
  ['local.host', '0.0.0.0:11434/', ({ ollamaHost }) => ollamaHost, 'http://127.0.0.1:11434'],
  ['local.host', 'https://models.example', ({ ollamaHost }) => ollamaHost, 'https://models.example'],
  ['chat.model', 'openai:x', ({ model }) => model, 'openai:x'],
  ['chat.model', '', ({ model }) => model, undefined],
  ['chat.titles', 'model', ({ asksForTitles }) => asksForTitles, true],
  ['chat.titles', 'words', ({ asksForTitles }) => asksForTitles, false],
  ['models.folder', 'models', ({ modelsFolder }) => modelsFolder, '/home/ada/.local/share/aichat-toolkit/models'],
  ['models.folder', 'models', ({ warnings }) => warnings.length, 1],
  ['models.folder', '', ({ warnings }) => warnings, []],
  ['models.folder', '/models', ({ modelsFolder }) => modelsFolder, '/models'],
  ['models.hub', 'https://hub.example//', ({ hubEndpoint }) => hubEndpoint, 'https://hub.example'],
]

for (const [name, value, of, result] of readings)
  test(`${name} of "${value}" means ${JSON.stringify(result)}`, () => {
    assert.equal(of(read({ [name]: value })), result)
  })

test('chats are kept by their setting, but never in CI, and neither is a question asked there', () => {
  for (const [more, expected] of [
    [{}, [true, false]],
    [{ CI: '0' }, [true, false]],
    [{ CI: 'False' }, [true, false]],
    [{ CI: '1' }, [false, true]],
    [{ AICHAT_NO_INPUT: '1' }, [true, true]],
  ] as const) {
    const { keepsChats, noInput } = readSettings({ ...environment, ...more }, { 'chat.keep': 'true' })
    assert.equal([keepsChats, noInput], expected, JSON.stringify(more))
  }
})

function read(stored: StoredSettings): Settings {
  return readSettings(environment, stored)
}

test.run()
