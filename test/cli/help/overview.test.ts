import * as assert from 'uvu/assert'
import { runMain } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('the overview of aichat --help')

test('it is shorter than a screen of 80 by 24', async () => {
  const { code, stdout } = await runMain(['--help'])
  assert.is(code, 0)
  const lines = stdout.trimEnd().split('\n')
  assert.ok(lines.length <= 23, `${lines.length} lines`)
  for (const line of lines) assert.ok(line.length <= 80, line)
})

test('it has each command once, and `help commands` describes each with the options of all', async () => {
  const all = (await runMain(['help', 'commands'])).stdout
  const listed = /\nCommands:\n([\s\S]*?)\n\n/.exec(all)?.[1] ?? ''
  const names = [...listed.matchAll(/^ {2}([a-z]+)/gm)].map(([, name]) => name!).filter((name) => name !== 'help')
  assert.ok(names.length > 25)
  const [, groups = ''] = (await runMain(['--help'])).stdout.split('\n\n')
  const words = groups.split('\n').flatMap((line) => (/^ {2}\w+ +(.*?)(?: {2,}.*)?$/.exec(line)?.[1] ?? '').split(' '))
  assert.equal(words.sort(), names.sort())
  for (const option of ['--server', '--as', '--color', '--timeout', '--insecure']) assert.match(all, option)
})

test.run()
