import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { Cli } from '../../../src/cli/terminal/cli.ts'
import { report } from '../../../src/cli/terminal/failure.ts'
import { readSettings } from '../../../src/settings/read-settings.ts'
import { translated } from '../../../src/storage/sqlite/errors.ts'
import { openInstallation } from '../../helpers/program/installation.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('a wrong value on the command line')

const wrong: readonly (readonly [words: readonly string[], message: string])[] = [
  [['persona', 'memory', 'add', 'Ada', 'Hi', '--importance', '5'], 'Invalid --importance: must be at most 1, not 5'],
  [['persona', 'memory', 'list', 'Ada', '-n', '5000'], 'Invalid --limit: must be at most 1000, not 5000'],
  [['persona', 'memory', 'search', 'Ada', 'Hi', '-n', '500'], 'Invalid --limit: must be at most 100, not 500'],
  [['persona', 'memory', 'search', 'Ada', ' '], 'Invalid QUERY: must not be empty'],
  [
    ['persona', 'create', '--name', 'Eve', '-m', 'x', '--max-memories', '-1'],
    'Invalid --max-memories: must be at least 1, not -1',
  ],
  [['chat', '--temperature', '3', 'Hi'], 'Invalid --temperature: must be at most 2, not 3'],
  [['users', 'list', '--limit', 'ten'], 'Invalid --limit: must be a number'],
]

test('names its option, and what is allowed, without a name of the API', async () => {
  using home = openFastHome()
  await home.aichat(['persona', 'create', '--name', 'Ada', '-m', 'x'])
  for (const [words, message] of wrong) {
    const { code, stderr } = await home.aichat(words)
    assert.equal([code, stderr], [65, `aichat: ${message}\n`])
  }
})

test('a full disk is told with its folder, which clients of a service do not learn', async () => {
  const home = openFastHome()
  const written: string[] = []
  const cli = {
    io: { environment: {}, signal: new AbortController().signal, err: (text: string) => written.push(text) },
    globals: () => ({ color: 'never' }),
    signal: () => new AbortController().signal,
    settings: async () => readSettings({ AICHAT_HOME: home.folder }),
  } as unknown as Cli
  for (const thrown of [
    translated({ code: 'SQLITE_FULL' }),
    Object.assign(new Error(), { code: 'ENOSPC', path: join(home.folder, 'x') }),
    Object.assign(new Error(), { code: 'ENOSPC' }),
  ]) {
    assert.is(await report(thrown, cli, []), 74)
    assert.match(written.splice(0).join('\n'), `aichat: The disk is full\n  Folder: ${home.folder}\n`)
  }
  home.remove()
})

test('names every option where several are wrong', async () => {
  using home = openFastHome()
  const { stderr } = await home.aichat(['chat', '--temperature', '3', '--max-tokens', '0', 'Hi'])
  assert.is(
    stderr,
    'aichat: Invalid options\n  --temperature: must be at most 2, not 3\n  --max-tokens: must be at least 1, not 0\n',
  )
})

test('says how to give a text that begins with a dash', async () => {
  const home = openFastHome()
  const refused = await home.aichat(['chat', '- milk\n- bread'])
  assert.is(refused.code, 64)
  assert.match(refused.stderr, /^ {2}To give it as a text, put -- before it$/m)
  const misspelt = await home.aichat(['chat', '--modle', 'm', 'Hi'])
  assert.not.match(misspelt.stderr, /put --/)
  const given = await home.aichat(['chat', '--dry-run', '-m', 'openai:gpt-4.1', '--', '- milk'])
  assert.is(JSON.parse(given.stdout).body.messages[0].content, '- milk')
  home.remove()
})

test('is told in the same words from a daemon, whose API names the field', async () => {
  using home = openFastHome()
  await using installation = openInstallation({})
  const url = await installation.serve()
  const { code, stderr } = await home.aichat(['chat', '--temperature', '3', 'Hi', '--server', url])
  assert.equal([code, stderr], [65, 'aichat: Invalid --temperature: must be at most 2, not 3\n'])
  const response = await fetch(`${url}/api/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }], temperature: 3 }),
  })
  const { error, details } = (await response.json()) as { error: string; details: string[] }
  assert.equal([response.status, error, details], [400, 'Invalid request', ['temperature: must be at most 2, not 3']])
})

test.run()
