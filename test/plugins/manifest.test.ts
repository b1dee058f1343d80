import * as assert from 'uvu/assert'
import { AppError } from '../../src/errors.ts'
import { type ManifestRules, parseManifest } from '../../src/plugins/manifest.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the plugin document')

const rules: ManifestRules = {
  keyNames: ['MY_KEY', 'JWT_SECRET', 'PATH'],
  allowPrivate: true,
  pinned: new Map([['OPENAI_API_KEY', ['api.openai.com']]]),
}

/** The problems of a good document with this change. */
function problems(change: Record<string, unknown>, use = rules): readonly string[] {
  try {
    parseManifest({ ...pluginAt('https://api.example.com'), ...change }, use)
    return []
  } catch (error) {
    assert.instance(error, AppError)
    assert.is((error as AppError).message, 'Invalid plugin')
    return (error as AppError).details
  }
}

const noKey = { auth: { header: '', key_env: '' } }

test('addresses are checked by their meaning, in any spelling', () => {
  const forbidden = ['169.254.169.254', '2852039166', '0xA9FEA9FE', '0251.0376.0251.0376', '169.254.43518']
  const six = ['[::ffff:169.254.169.254]', '[64:ff9b::a9fe:a9fe]', '[2002:a9fe:a9fe::]', '[fe80::1]', '[::]']
  // IPv4 within IPv6: the deprecated form, translation and tunnels to the inside; and unassigned addresses.
  six.push('[::127.0.0.1]', '[::a9fe:a9fe]', '[64:ff9b::7f00:1]', '[64:ff9b:1::808:808]', '[2002:7f00:1::]')
  six.push('[::ffff:0:7f00:1]', '[fec0::1]', '[4000::1]', '[2001:0:7f00:1::]')
  const names = ['metadata.google.internal', 'metadata.google.internal.', 'metadata', '0', '0.0.0.0', '168.63.129.16']
  for (const host of [...forbidden, ...six, ...names, '[fd00:ec2::254]', '224.0.0.1', '255.255.255.255'])
    assert.match(
      problems({ ...noKey, endpoint: `http://${host}/v1` }).join(),
      /^endpoint: points at a link-local/,
      host,
    )
  const published = ['[64:ff9b::808:808]', '[2606:4700::1111]', '8.8.8.8']
  for (const host of published) assert.equal(problems({ endpoint: `https://${host}/v1` }), [], host)
  for (const host of [
    'localhost.',
    '127.1',
    '0177.0.0.1',
    '2130706433',
    '0x7f.1',
    '127.0.0.1.',
    '[::ffff:7f00:1]',
    '[::1]',
    '10.0.0.1',
    '[0:0:0:0:0:0:0:1]',
  ])
    assert.equal(problems({ endpoint: `http://${host}/v1` }), [], host)
})

test('addresses that are none, hide something or mislead are refused', () => {
  const refused: readonly (readonly [string, RegExp])[] = [
    ['https://user:pass@api.example.com/', /user name or password/],
    ['https://api.example.com:0/', /port 0/],
    ['https://api.example.com:99999/', /http or https address/],
    ['https://api.example.com/#a', /fragment/],
    ['https://{model}.example.com/', /in its host/],
    ['https://api.example.com/{other}', /placeholder \{model\} and no other/],
    ['https://api.ex\u0430mple.com/', /ASCII/],
    ['https://api\u3002example.com/', /ASCII/],
    ['https://api.example.com/\u202e', /ASCII/],
    ['https://api.example.com\\@evil.example/', /http or https address/],
    ['https:api.example.com', /http or https address/],
    ['//api.example.com', /http or https address/],
    ['file:///etc/passwd', /http or https address/],
    [' https://api.example.com', /http or https address/],
  ]
  for (const [endpoint, reason] of refused) assert.match(problems({ endpoint }).join(), reason, endpoint)
  for (const endpoint of ['https://xn--bcher-kva.example/v1', 'HTTPS://API.EXAMPLE.COM/{model}?version=1'])
    assert.equal(problems({ endpoint }), [], endpoint)
})

test('a pinned key goes to its own host alone, however that is written', () => {
  const auth = { header: 'Authorization', key_env: 'OPENAI_API_KEY' }
  for (const host of ['api.openai.com:8443', 'api.openai.com.', 'api.openai.com.evil.example', 'example.com'])
    assert.match(problems({ auth, endpoint: `https://${host}/v1` }).join(), /is only sent to api\.openai\.com/, host)
  assert.equal(problems({ auth, endpoint: 'https://api.openai.com:443/v1' }), [])
  const alternatives = { header: 'Authorization', key_env: 'MY_KEY', key_env_alternatives: ['OPENAI_API_KEY', 'PATH'] }
  assert.equal(problems({ auth: alternatives }), [
    'auth.key_env_alternatives.1: names a variable of aichat or of the machine, which is never a key',
    'endpoint: OPENAI_API_KEY is only sent to api.openai.com; if api.example.com may have it too, add OPENAI_API_KEY=api.example.com to PLUGIN_KEY_HOSTS (plugins.key_hosts; a daemon reads it at its start), else name another variable',
  ])
})

test('names of keys are plain, and never a variable that the machine or aichat reads', () => {
  const refused = ['JWT_SECRET', 'PATH', 'AICHAT_API_KEY', 'NODE_API_KEY', 'X_API_KEY_FILE', '_API_KEY', 'x_api_key']
  const alike = ['\u0425_API_KEY', 'X_API_KEY\n', ' X_API_KEY', '$X_API_KEY', '__proto__']
  for (const name of [...refused, ...alike])
    assert.is(problems({ auth: { header: 'Authorization', key_env: name } }).length, 1, name)
  const [problem] = problems({ auth: { header: 'Authorization', key_env: 'sk-abcdefghijklmnopqrstuv' } })
  assert.match(problem!, /looks like a key/)
  assert.not.match(problem!, /sk-abc/)
})

test('ids can be files and words in an address', () => {
  const refused = 'A a/b .. a..b .a a. -a __proto__ constructor con con.x lpt1 nul'.split(' ')
  const alike = ['\u043epenai', 'open\u200bai', 'a\n', 'a\u0000', '', 'active', 'install', 'a'.repeat(65)]
  for (const id of [...refused, ...alike]) assert.is(problems({ id }).length, 1, JSON.stringify(id))
  for (const id of ['a', 'x.json', 'tostring', 'console', 'a'.repeat(64)]) assert.equal(problems({ id }), [], id)
})

test('texts for a terminal cannot move its cursor or turn its direction', () => {
  for (const text of ['a\u001b[31mb', 'a\u202eb', 'a\u0000', 'a\u009b1m', 'a\rb'])
    for (const field of ['name', 'description', 'documentation_url', 'models_as_of'])
      assert.is(problems({ [field]: text }).length, 1, `${field} ${JSON.stringify(text)}`)
  assert.equal(problems({ name: 'Grüße 世界 🌍', description: 'two\nlines\tand a tab' }), [])
  assert.is(problems({ documentation_url: 'javascript:alert(1)' }).length, 1)
  assert.equal(problems({ documentation_url: '' }), [])
})

test('patterns that may run for ever are refused, the usual ones are not', () => {
  const source = (pattern: string) => ({ models_source: { url: 'https://api.example.com/models', drop: [pattern] } })
  const refused = [
    '(a+)+$',
    '(a|a)*$',
    '(\\w|\\d)+$',
    '(x(a+)y?)+$',
    '(?:a*)*',
    '(a?){50}',
    '.*.*.*.*x',
    '(',
    'a'.repeat(301),
  ]
  const fine = [
    'tts|image',
    '^[a-zA-Z0-9]{9}$',
    '^(?:ft:)?(?:gpt-|o\\d)',
    '^o\\d+-pro',
    '([a-z]{2})+',
    '[(|)+*]+',
    '\\(a\\)+',
  ]
  for (const pattern of refused) {
    assert.is(problems(source(pattern)).length, 1, pattern)
    assert.match(problems({ quirks: { tool_id_pattern: pattern } }).join(), /^quirks\.tool_id_pattern: /, pattern)
  }
  for (const pattern of fine) assert.equal(problems(source(pattern)), [], pattern)
})

test('every problem is reported at once, each with its path and the allowed values', () => {
  const found = problems({
    id: 'install',
    type: 'image',
    endpoint: 'http://169.254.169.254/',
    auth: { header: 'Host', key_env: 'JWT_SECRET' },
    model_map: ['ok', '../up'],
    headers: { 'X-A': 'a\r\nb', 'Proxy-Authorization': 'x', Cookie: 'x', 'two words': 'x', 'X-B': 'x' },
    timeouts: { connect: 1e12, idle: 0, late: 1 },
    retry: { attempts: 5 },
    fallback: ['groq', 7],
    name: ' ',
  })
  assert.equal([...found].sort(), [
    'auth.header: the header Host cannot carry a key',
    'auth.key_env: names a variable of aichat or of the machine, which is never a key',
    'endpoint: points at a link-local, metadata, multicast or reserved address',
    'fallback.1: must be the id of a plugin, or an object with plugin and model',
    'headers.Cookie: is not a header that can be set',
    'headers.Proxy-Authorization: is not a header that can be set',
    'headers.X-A: must be printable characters without line breaks',
    'headers.two words: is not a header that can be set',
    'id: "install" is a reserved word',
    'model_map.1: must be a model name: letters, digits and . _ : / @ + ~ - without ".."',
    'name: must not be empty',
    'retry.attempts: must be at most 4, not 5',
    'timeouts.connect: must be at most 3600000, not 1000000000000',
    'timeouts.idle: must be at least 1, not 0',
    'timeouts: unknown field late',
    'type: must be completion, embedding, chat or tts',
  ])
})

test('the beginnings of models that are of no plugin are no ids', () => {
  for (const id of ['local', 'persona'])
    assert.equal(problems({ id }), [`id: "${id}" is a reserved word: models named ${id}:… are of no plugin`])
})

test('a document that is not an object is refused in plain words', () => {
  for (const document of [null, [], 'x', 5])
    assert.throws(
      () => parseManifest(document, rules),
      (error: AppError) => error.details.includes('the plugin: must be an object'),
    )
})

test.run()
