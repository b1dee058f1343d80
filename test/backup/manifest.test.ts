import * as assert from 'uvu/assert'
import { databasePart, readManifest } from '../../src/backup/manifest.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the manifest of a backup')

const part = (name: string) => ({ name, sha256: '0'.repeat(64), bytes: 0 })
const valid = {
  format: 1,
  program: 'aichat 1.2.3',
  created_at: 0,
  database: { kind: 'sqlite', schema: '1', users: 0 },
  keys: [] as string[],
  parts: [part(databasePart)],
}

const wrong: readonly (readonly [what: string, change: object, reason: RegExp])[] = [
  ['a name of the program with 101 characters', { program: 'x'.repeat(101) }, /is damaged/],
  [
    'a name of the schema with 101 characters',
    { database: { ...valid.database, schema: 'x'.repeat(101) } },
    /is damaged/,
  ],
  ['fewer users than none', { database: { ...valid.database, users: -1 } }, /is damaged/],
  ['a name of a key with 201 characters', { keys: ['x'.repeat(201)] }, /is damaged/],
  ['5,001 keys', { keys: new Array(5001).fill('K') }, /is damaged/],
  ['a part of fewer bytes than none', { parts: [{ ...part(databasePart), bytes: -1 }] }, /is damaged/],
  ['no part', { parts: [] }, /is damaged/],
  ['a part in another folder', { parts: [part(databasePart), part('plugins/../x')] }, /is damaged/],
  [
    'a name of a part with 201 characters',
    { parts: [part(databasePart), part(`plugins/${'x'.repeat(201)}`)] },
    /is damaged/,
  ],
  ['a part twice', { parts: [part(databasePart), part(databasePart)] }, /names a part twice/],
  ['no database', { parts: [part('plugins/one.json')] }, /holds no database/],
  ['the next format', { format: 2 }, /a newer aichat made it/],
  ['a format before the first', { format: 0 }, /is damaged/],
]

for (const [what, change, reason] of wrong)
  test(`with ${what} is refused`, () => {
    assert.throws(() => readManifest(JSON.stringify({ ...valid, ...change })), reason)
  })

test('at its bounds is read', () => {
  const largest = {
    ...valid,
    program: 'x'.repeat(100),
    database: { ...valid.database, schema: 'x'.repeat(100) },
    keys: new Array(5000).fill('K'.repeat(200)),
    parts: [part(databasePart), part(`plugins/${'x'.repeat(200)}`)],
  }
  assert.equal(readManifest(JSON.stringify(largest)), largest)
  assert.throws(() => readManifest('{'), /is no JSON/)
  assert.throws(() => readManifest('null'), /is damaged/)
})

test.run()
