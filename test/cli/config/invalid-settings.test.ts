import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('a settings file with values that make no sense')

const wrongPort = 'api.port must be a whole number from 0 to 65535, not "x"'
const wrongKeep = 'chat.keep) must be true or false, not "maybe"'

test('is named beside its faults by every other command, and mended by those about settings', async () => {
  using home = openFastHome()
  const file = join(home.folder, 'config.json')
  writeFileSync(file, JSON.stringify({ 'api.port': 'x', 'chat.keep': 'maybe' }))
  const refused = await home.aichat(['plugin', 'list'])
  assert.is(refused.code, 78)
  assert.match(refused.stderr, wrongPort)
  assert.match(refused.stderr, wrongKeep)
  assert.match(refused.stderr, `Correct ${file}, or run aichat config unset NAME\n`)

  assert.match((await home.aichat(['config', 'path'])).stdout, file)
  for (const words of [
    ['config', 'list'],
    ['config', 'get', 'api.port'],
  ]) {
    const { code, stderr } = await home.aichat(words)
    assert.is(code, 0)
    assert.match(stderr, `aichat: ${wrongPort}\n`)
    assert.match(stderr, wrongKeep)
  }

  const again = await home.aichat(['config', 'set', 'api.port', ''])
  assert.is(again.code, 78)
  assert.not.match(again.stderr, wrongKeep, 'what is wrong elsewhere is no fault of this value')
  const first = await home.aichat(['config', 'set', 'api.port', '3002'])
  assert.is(first.code, 0)
  assert.match(first.stderr, wrongKeep)
  assert.is((await home.aichat(['config', 'unset', 'chat.keep'])).code, 0)
  assert.equal(JSON.parse(readFileSync(file, 'utf8')), { 'api.port': '3002' })
  assert.is((await home.aichat(['plugin', 'list'])).code, 0)
})

test('gets the two files of TLS one after the other', async () => {
  using home = openFastHome()
  const first = await home.aichat(['config', 'set', 'api.tls_cert', '/etc/ssl/chat.pem'])
  assert.is(first.code, 0)
  assert.match(first.stderr, '(api.tls_cert) and AICHAT_TLS_KEY (api.tls_key) belong together\n')
  assert.is((await home.aichat(['plugin', 'list'])).code, 78)
  const second = await home.aichat(['config', 'set', 'api.tls_key', '/etc/ssl/chat.key'])
  assert.equal([second.code, second.stderr], [0, ''])
  assert.is((await home.aichat(['plugin', 'list'])).code, 0)
})

test('may begin with the byte order mark of an editor, and is told the line of its fault', async () => {
  using home = openFastHome()
  const file = join(home.folder, 'config.json')
  writeFileSync(file, '\ufeff{\r\n  "api.port": "3002"\r\n}\r\n')
  writeFileSync(join(home.folder, 'model-aliases.json'), '\ufeff{ "fast": "openai:gpt-4.1-mini" }\r\n')
  assert.is((await home.aichat(['config', 'get', 'api.port'])).stdout, '3002\n')
  assert.is((await home.aichat(['config', 'set', 'chat.model', 'fast'])).code, 0)
  assert.equal(JSON.parse(readFileSync(file, 'utf8')), { 'api.port': '3002', 'chat.model': 'fast' })
  assert.match((await home.aichat(['chat', '--dry-run', 'Hi'])).stdout, '"model": "gpt-4.1-mini"')

  writeFileSync(file, '{\n  "api.port": "3002",\n}\n')
  const { code, stderr } = await home.aichat(['config', 'list'])
  assert.is(code, 78)
  assert.match(stderr, `The settings file ${file} cannot be read: it is not valid JSON; correct or remove it\n`)
  assert.match(stderr, 'the fault is at line 3, column 1\n')
})

const handWritten = [
  { file: 'model-aliases.json', content: '{ "fast": "openai:gpt-4.1-mini" }', words: ['models', 'alias'] },
  { file: 'mcp.json', content: '{ "servers": { "files": { "command": "true" } } }', words: ['mcp', 'list'] },
  { file: 'secrets.json', content: '{ "OPENAI_API_KEY": "value" }', words: ['secret', 'list'] },
]

for (const { file, content, words } of handWritten)
  test(`beside it stands ${file}, which may begin so and is told the line of its fault too`, async () => {
    using home = openFastHome()
    const path = join(home.folder, file)
    writeFileSync(path, `\ufeff${content}\r\n`, { mode: 0o600 })
    const read = await home.aichat(words)
    assert.is(read.code, 0, read.stderr)
    assert.match(read.stdout, /fast|files|OPENAI_API_KEY/)

    writeFileSync(path, `{\n${content.slice(1, -1)},\n}\n`)
    const { code, stderr } = await home.aichat(words)
    assert.is(code, 78)
    assert.match(stderr, `${path}`)
    assert.match(stderr, 'the fault is at line 3, column 1\n')
    assert.not.match(stderr, 'value')
  })

test.run()
