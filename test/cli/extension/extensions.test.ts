// Some with --all only: many processes.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { openHome } from '../../helpers/program/command.ts'
import { suite } from '../../helpers/suite.ts'
import { scene } from '../connect/scene.ts'

const test = suite('programs aichat-NAME as commands')

function homeWith(programs: Readonly<Record<string, string>>, environment: Readonly<Record<string, string>> = {}) {
  const home = openHome(environment)
  const folder = join(home.folder, 'programs')
  mkdirSync(folder)
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(folder, name), text)
    chmodSync(join(folder, name), name.endsWith('.txt') ? 0o644 : 0o755)
  }
  const path = { PATH: `${folder}:${process.env['PATH']}` }
  return {
    folder: home.folder,
    aichat: (words: readonly string[]) => home.aichat(words, { environment: path }),
    [Symbol.dispose]: () => home.remove(),
  }
}

test('get all words as they are, the data folder and no address where no daemon runs; their exit code is that of the command', async () => {
  const script = '#!/bin/sh\nprintf "%s\\n" "$@" "data $AICHAT_DATA" "url $AICHAT_URL$AICHAT_API_KEY"\nexit 7\n'
  using home = homeWith({ 'aichat-list-all': script }, { AICHAT_API_PORT: '9' })
  const { code, stdout, stderr } = await home.aichat(['-q', 'list-all', '--json', 'two words', '-h', '--', '--server'])
  assert.is(stderr, '')
  assert.is(code, 7)
  const words = ['--json', 'two words', '-h', '--', '--server']
  assert.equal(stdout.split('\n'), [...words, `data ${home.folder}`, 'url ', ''])
})

test('are listed in the help, unless aichat has a command of that name, which wins', async () => {
  const says = '#!/bin/sh\necho an extension\n'
  using home = homeWith({ 'aichat-zebra': says, 'aichat-ant': says, 'aichat-config': says, 'aichat-No.txt': says })
  assert.match((await home.aichat(['--help'])).stdout, /\n {2}Extensions: ant zebra\n/)
  assert.match((await home.aichat(['config', 'path'])).stdout, home.folder)
  assert.is((await home.aichat(['zebra'])).stdout, 'an extension\n')
  const unknown = await home.aichat(['zebr'])
  assert.is(unknown.code, 64)
})

test('that cannot be started end the command with a sentence', async () => {
  using home = homeWith({ 'aichat-broken': '#!/nowhere/interpreter\n' })
  const { code, stderr } = await home.aichat(['broken'])
  assert.is(code, 69)
  assert.match(stderr, /^aichat: .*aichat-broken could not be started: /)
})

test.whole(
  'the example of the manual has 15 lines at most, asks the daemon with a key of its own, and the key ends with it',
  () =>
    scene(async ({ environment, run }) => {
      const page = readFileSync(
        fileURLToPath(new URL('./man/aichat-clients.md', import.meta.resolve('#package'))),
        'utf8',
      )
      const [, example = ''] = /```js\n([\s\S]*?)```/.exec(page) ?? []
      assert.ok(example.split('\n').length - 1 <= 16, 'the first line and fifteen more')
      using home = homeWith({ 'aichat-translate': example }, environment)
      const { stdout, stderr } = await home.aichat(['translate', 'Good', 'morning'])
      assert.is(stdout, 'hello\n', stderr)
      const { keys } = JSON.parse((await run(['key', 'list', '--json'])).stdout)
      assert.is(keys.length, 1)
      const [{ name, state, scopes }] = keys
      assert.equal([name, state, scopes.includes('admin')], ['aichat-translate', 'revoked', false])
    }),
)

test.run()
