// Some with --all only: many processes.
import * as assert from 'uvu/assert'
import { AppError } from '../../src/errors.ts'
import { parseManifest } from '../../src/plugins/manifest.ts'
import { pluck } from '../helpers/pluck.ts'
import { withDaemon } from '../helpers/program/daemon.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { openFastHome } from '../helpers/program/terminal.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('keys that stand where they should not')

const hex = '0123456789abcdef0f1e2d3c4b5a6978'

/** Keys as the providers write them; none of them is one. */
const keys = [
  'sk-proj-abcDEF123456ghiJKL789',
  'sk-ant-api03-AAAAbbbbCCCC1111',
  'gsk_abcdefghijklmnopqrstuvwx',
  `pplx-${hex}`,
  `xai-${hex}`,
  'hf_abcdefghijklmnopqrstuvwxyz',
  'r8_abcdefghijklmnopqrstuvwxyz',
  'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
  'github_pat_11ABCDEFG0abcdefghij',
  'AIzaSyA1234567890abcdefghijklmnopqrstuv',
  'AKIAIOSFODNN7EXAMPLE',
  'nvapi-abcdefghijklmnop',
  'aic_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKL',
  hex,
  hex.toUpperCase(),
  `${hex}${hex}`,
  'q7Wm2Zx9Lp4Vt8Rn5Ks1Yd6Hb3Jf0Gc',
  'dGhpcyBpcyBub3QgYSBrZXkgYnV0IGxvb2tzIGxpa2U1IQ==',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefghijklmnop',
]

/** Ordinary values of fixed headers. */
const ordinary: readonly (readonly [string, string])[] = [
  ['anthropic-version', '2023-06-01'],
  ['anthropic-beta', 'fine-grained-tool-streaming-2025-05-14,prompt-caching-2024-07-31,context-1m-2025-08-07'],
  ['X-GitHub-Api-Version', '2022-11-28'],
  ['Accept', 'application/vnd.github+json'],
  ['HTTP-Referer', 'https://chat.example/some/Path2/with3/Parts4/and5/more'],
  ['X-Title', 'A title of several words, with 1 number'],
  ['OpenAI-Organization', 'org-9aB3cD4eF5gH6iJ7kL8mN9oP'],
  ['OpenAI-Project', 'proj_9aB3cD4eF5gH6iJ7kL8mN9oP'],
  ['X-App-Id', '123e4567-e89b-12d3-a456-426614174000'],
  ['User-Agent', 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)'],
  ['X-Region', 'europe-west4-a'],
  ['X-Model', 'mixtral-8x7b-instruct-v0.1'],
  ['Api-Key', 'none'],
  ['X-Date', '20240601T120000Z'],
  ['X-Number', '12345678901234567890123456789012'],
]

const rules = { keyNames: [], allowPrivate: true, pinned: new Map() }

/** Why a document with this change is refused; empty when it is not. */
function problems(change: Record<string, unknown>): string {
  try {
    parseManifest({ ...pluginAt('https://api.example.com'), ...change }, rules)
    return ''
  } catch (reason) {
    assert.instance(reason, AppError)
    return [(reason as AppError).message, ...(reason as AppError).details].join('\n')
  }
}

/** A document with a key in each of the places where it is pasted by mistake. */
function misplaced(key: string): readonly (readonly [string, Record<string, unknown>])[] {
  const auth = { header: 'Authorization', prefix: 'Bearer ', key_env: 'CUSTOM_API_KEY' }
  const url = 'https://api.example.com/models'
  return [
    ['auth.key_env', { auth: { ...auth, key_env: key } }],
    ['auth.key_env', { auth: { ...auth, key_env: key }, endpoint: 'http://api.example.com/v1' }],
    ['auth.key_env_alternatives.0', { auth: { ...auth, key_env_alternatives: [key] } }],
    ['auth.prefix', { auth: { ...auth, prefix: `Bearer ${key.slice(0, 56)}` } }],
    ['auth.header', { auth: { ...auth, header: key.replaceAll(/[=]/g, '') } }],
    ['headers.X-Custom', { headers: { 'X-Custom': key } }],
    ['headers.Authorization', { headers: { Authorization: `Bearer ${key}` } }],
    ['headers', { headers: { [key]: '' } }],
    ['endpoint', { endpoint: `https://api.example.com/v1?key=${encodeURIComponent(key)}` }],
    ['models_source.url', { models_source: { url: `${url}?x=${encodeURIComponent(key)}` } }],
    ['models_source.query.key', { models_source: { url, query: { key } } }],
    ['timeouts', { timeouts: { [key]: 1 } }],
  ]
}

test('a key in any field of a document is refused with its place, and never shown', () => {
  for (const key of keys)
    for (const [place, change] of misplaced(key)) {
      const found = problems(change)
      assert.ok(found.includes(place), `${place} ${key}: ${found}`)
      assert.not.ok(found.includes(key.slice(0, 12)), found)
    }
})

test('a fixed header with a key is refused with advice, and ordinary values pass', () => {
  for (const key of keys)
    assert.match(problems({ headers: { 'X-Custom': key } }), /looks like a secret; .* auth\.key_env names/, key)
  assert.match(problems({ headers: { 'X-Api-Key': 'not random at all' } }), /looks like a secret/)
  for (const [name, value] of ordinary) assert.is(problems({ headers: { [name]: value } }), '', `${name}: ${value}`)
  const version = 'https://api.example.com/v1?api-version=2024-10-01-preview&key={model}'
  assert.is(problems({ endpoint: version }), '')
  const account = `https://gateway.example/accounts/${hex}/v1/chat/completions`
  assert.is(problems({ endpoint: account }), '', 'ids of accounts stand in paths')
})

test.whole('the server never shows a key from a document, in any answer', () =>
  withDaemon(async ({ call, register }) => {
    const { token } = await register('ada')
    for (const key of [keys[0]!, 'AKIAIOSFODNN7EXAMPLE', hex.toUpperCase()])
      for (const [place, change] of misplaced(key)) {
        const body = pluginAt('https://api.example.com', change)
        const answered = [
          await call('POST', '/api/plugins/install', { token, body }),
          await call('PUT', '/api/plugins/groq', { token, body: { ...body, id: 'groq' } }),
          await call('GET', '/api/plugins/status/all', { token }),
          await call('GET', '/api/plugins', { token }),
        ]
        assert.equal(pluck(answered, 'status'), [400, 400, 200, 200], place)
        const shown = JSON.stringify(answered.map(({ body: answer }) => answer))
        assert.is(shown.indexOf(key.slice(0, 12)), -1, place)
      }
  }),
)

test('the command line shows no key that is given in the place of a name or of a setting', async () => {
  const home = openFastHome()
  const key = keys[0]!
  const input = JSON.stringify(pluginAt('http://api.example.com', { auth: { header: 'X-Key', key_env: key } }))
  for (const [words, exit] of [
    [['plugin', 'install', '-', '--debug'], 65],
    [['plugin', 'install', '-', '--json', '--debug'], 65],
    [['plugin', 'validate', '-', '--json'], 65],
    [['secret', 'set', key, '--insecure-storage'], 65],
    [['secret', 'remove', key], 67],
    [['config', 'set', 'chat.model', key], 65],
    [['config', 'set', 'plugins.key_names', `A_TOKEN,${key}`], 65],
    [['config', 'set', 'plugins.key_hosts', `A_API_KEY=${key}`], 65],
    [['config', 'set', key, 'x'], 64],
    [['config', 'get', key], 64],
    [['config', 'list'], 0],
  ] as const) {
    const { code, stdout, stderr } = await home.aichat(words, { input })
    assert.is(code, exit, `${words.join(' ')}: ${stderr}`)
    assert.not.ok(`${stdout}${stderr}`.includes(key), `${words.join(' ')}: ${stderr}`)
  }
  home.remove()
})

test.run()
