import { statSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openTerminalHere, runMain } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'
import { goodKey, openScene } from './scene.ts'

const test = suite('from nothing to an answer, by questions at a terminal')

const enter = '\r'

test('a question where nothing is set up is answered after a key and a model', async () => {
  await using scene = await openScene()
  const terminal = openTerminalHere(['chat', 'What is a monad?'], scene.environment)
  await terminal.shows(/Who shall answer\?[\s\S]*A provider that I have a key for/)
  terminal.type(enter)
  await terminal.shows(/Key \(/)
  terminal.type(`${goodKey}${enter}`)
  await terminal.shows(/Which model answers\?[\s\S]*gpt-4\.1-mini +1,047,576 tokens +\$0\.4 in, \$1\.6 out[\s\S]*gpt-4o/)
  terminal.type(enter)
  await terminal.shows(/gpt-4\.1-mini heard: What is a monad\?/)
  const { code } = await terminal.ended()
  assert.is(code, 0)
  assert.not.match(terminal.shown(), 'canary')
  assert.match(terminal.shown(), /kept in \S+secrets\.json, which only you can read/)
  assert.is(statSync(join(scene.home, 'secrets.json')).mode & 0o777, 0o600)

  // The next question asks nothing.
  const next = await runMain(['Again'.concat(' please')], { environment: scene.environment })
  assert.equal([next.code, next.stdout], [0, 'gpt-4.1-mini heard: Again please\n'])
})

test.run()
