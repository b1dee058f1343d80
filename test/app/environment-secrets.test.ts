import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { environmentSecrets } from '../../src/app/environment-secrets.ts'
import type { AppError } from '../../src/errors.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('secrets of the environment')

test('say where they come from, are kept until a reload, and then until the new ones are taken', () => {
  const folder = temporaryFolder()
  const [file, credentials] = [join(folder, 'key'), join(folder, 'credentials')]
  mkdirSync(credentials)
  writeFileSync(file, 'first\n')
  writeFileSync(join(credentials, 'B_API_KEY'), 'second')
  const secrets = environmentSecrets({
    environment: {
      ...{ CREDENTIALS_DIRECTORY: credentials, A_API_KEY: 'direct', C_API_KEY_FILE: file },
      D_API_KEY_FILE: join(folder, 'absent'),
    },
  })
  secrets.begin()
  for (const [name, value, origin] of [
    ['A_API_KEY', 'direct', 'environment'],
    ['B_API_KEY', 'second', 'credential'],
    ['C_API_KEY', 'first', 'C_API_KEY_FILE'],
  ] as const)
    assert.equal([secrets.has(name), secrets.get(name), secrets.origin(name)], [true, value, origin])
  assert.is(secrets.has('E_API_KEY'), false)

  writeFileSync(file, 'changed')
  assert.is(secrets.get('C_API_KEY'), 'first')
  assert.equal(problemsOf(secrets), ['The file named by D_API_KEY_FILE cannot be read'])
  writeFileSync(join(folder, 'absent'), 'there')
  const { changed, take } = secrets.reload()
  assert.equal([changed, secrets.get('C_API_KEY')], [['C_API_KEY'], 'first'])
  take()
  assert.equal([secrets.get('C_API_KEY'), secrets.get('D_API_KEY')], ['changed', 'there'])
  assert.equal(secrets.reload().changed, [])

  writeFileSync(file, 'two words')
  writeFileSync(join(credentials, 'B_API_KEY'), '')
  assert.equal(problemsOf(secrets), ['C_API_KEY holds characters that no key has', 'B_API_KEY is gone or empty'])
  assert.is(secrets.get('B_API_KEY'), 'second')
})

function problemsOf(secrets: ReturnType<typeof environmentSecrets>): readonly string[] {
  try {
    secrets.reload()
    return []
  } catch (reason) {
    return (reason as AppError).details
  }
}

test.run()
