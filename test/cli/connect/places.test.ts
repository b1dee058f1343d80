import * as assert from 'uvu/assert'
import { placesOf } from '../../../src/cli/connect/places.ts'
import { exportLines, shellOf } from '../../../src/cli/connect/shell.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('places of clients')

test('the files are where each system keeps them', () => {
  const at = (platform: NodeJS.Platform) => placesOf({ HOME: '/h', XDG_CONFIG_HOME: '/x' }, platform)
  assert.equal(at('win32').printFile('k'), ['cmd', '/c', 'type', 'k'])
  assert.is(at('linux').opencodeFile, '/x/opencode/opencode.json')
  assert.is(at('linux').codexFolder, '/h/.codex')
})

test('a variable of the client names its place', () => {
  const places = placesOf({
    HOME: '/h',
    CODEX_HOME: '/c',
    CLAUDE_CONFIG_DIR: '/d',
    OPENCODE_CONFIG: '/o.json',
  })
  assert.equal([places.codexFolder, places.claudeFolder, places.opencodeFile], ['/c', '/d', '/o.json'])
})

test('values are quoted for the shell', () => {
  assert.is(exportLines({ A: `it's $x`, B: undefined }, 'bash'), `export A='it'\\''s $x'\nunset B`)
  assert.is(exportLines({ A: `it's \\`, B: undefined }, 'fish'), `set -gx A 'it\\'s \\\\'\nset -e B`)
  assert.equal(
    [shellOf({ SHELL: '/usr/bin/fish' }), shellOf({ SHELL: '/bin/dash' }), shellOf({})],
    ['fish', 'bash', 'bash'],
  )
})

test.run()
