import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openKeychainSecrets } from '../../src/keychain/keychain-secrets.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('secrets in the keychain')

test('are known by their names in a file, sorted and once each; an unreadable file names none', async () => {
  const folder = temporaryFolder()
  const stored = new Map<string, string>()
  const path = join(folder, 'keychain.json')
  const secrets = openKeychainSecrets(path, {
    probe: async () => {},
    get: async (name) => stored.get(name),
    set: async (name, value) => void stored.set(name, value),
    remove: async (name) => stored.delete(name),
  })
  assert.equal(secrets.names(), [])
  for (const [name, value] of [
    ['B', '1'],
    ['A', '2'],
    ['B', '3'],
  ] as const)
    await secrets.set(name, value)
  assert.equal(secrets.names(), ['A', 'B'])
  assert.equal(
    [await secrets.get('B'), secrets.has('B'), secrets.has('C'), secrets.origin('B')],
    ['3', true, false, 'keychain'],
  )
  assert.is(await secrets.remove('C'), false)
  assert.is(await secrets.remove('B'), true)
  assert.equal([secrets.names(), [...stored]], [['A'], [['A', '2']]])
  writeFileSync(path, '{')
  assert.equal(secrets.names(), [])
})

test.run()
