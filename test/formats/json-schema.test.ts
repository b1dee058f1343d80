// Some with --all only: many processes.
import * as assert from 'uvu/assert'
import { openSchemaCheck, type SchemaMethods } from '../../src/formats/json-schema.ts'
import { spawnChild } from '../../src/process/child.ts'
import { closing } from '../helpers/disposal.ts'
import { rejects } from '../helpers/rejection.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the check of JSON against a schema')
const never = new AbortController().signal

test.whole(
  'a pattern with catastrophic backtracking ends at the deadline, and so does one in the names of fields',
  async () => {
    const catastrophe = '^(a+)+$'
    for (const [schema, json] of [
      [{ pattern: catastrophe }, JSON.stringify(`${'a'.repeat(50)}!`)],
      [{ patternProperties: { [catastrophe]: {} } }, JSON.stringify({ [`${'a'.repeat(50)}!`]: 1 })],
    ] as const) {
      await using check = closing(await openSchemaCheck(schema, 'the schema', never, 1))
      const late = /^The answer takes more than 1 seconds to check\nA pattern of the schema may be the reason/
      await rejects(check.problemsOf(json, never), 'too_large', late)
    }
  },
)

test('one check serves many values, and repeats what is wrong only', async () => {
  const check = await openSchemaCheck({ type: 'array', items: { enum: ['a', 1] } }, 'the schema', never)
  assert.equal(await check.problemsOf('["a", 1]', never), [])
  assert.equal(await check.problemsOf('["b"]', never), ['/0: must be equal to one of the allowed values: "a", 1'])
  assert.equal(await check.problemsOf('7', never), ['/: must be array'])
  check.close()
})

test.whole('a signal ends a check', async () => {
  const check = await openSchemaCheck({ pattern: '^(a+)+$' }, 'the schema', never)
  const stop = new AbortController()
  const checked = check.problemsOf(JSON.stringify(`${'a'.repeat(50)}!`), stop.signal)
  stop.abort(new Error('stopped'))
  assert.is(await checked.catch((reason: Error) => reason.message), 'stopped')
  check.close()
})

test.whole('what is no JSON Schema, or not a schema of ours, is refused with a reason', async () => {
  const lost = (reason: string) => new Error(reason)
  const module = { beside: import.meta.url, name: '../../src/formats/json-schema-child' }
  const child = spawnChild<SchemaMethods>({ module, graceMs: 0, lost })
  for (const [schema, reason] of [
    [{ $async: true }, /\$async is no keyword/],
    [{ minLength: -1 }, /\/minLength: must be >= 0/],
    [{ $ref: '#/$defs/none' }, /\$ref "#\/\$defs\/none" is not in the schema/],
    [{ $ref: 'file:///etc/passwd' }, /no other document is loaded/],
    [{ $schema: 7 }, /\$schema is 7: use draft/],
  ] as const)
    await rejects(child.request('compile', schema), 'invalid', reason)
  child.kill()
  const told = /^the schema is no JSON Schema that can be checked\n\$async is no keyword/
  await rejects(openSchemaCheck({ $async: true }, 'the schema', never), 'invalid', told)
})

test.run()
