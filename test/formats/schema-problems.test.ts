import * as assert from 'uvu/assert'
import { z } from 'zod'
import { validate } from '../../src/formats/schema-problems.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('what a schema finds wrong')

const schema = z.object({
  count: z.coerce.number().int().min(1).max(10),
  share: z.number().gt(0),
  name: z.string().min(2).max(3),
  email: z.email(),
  kind: z.enum(['one', 'two', 'three']),
  only: z.literal('one'),
  list: z.array(z.string()).min(1).max(1),
  flag: z.boolean(),
  strict: z.strictObject({}),
  own: z.string('is our own sentence'),
  missing: z.string(),
})

test('is told in plain words, the schema’s own before ours', () => {
  const { problems } = validate(schema, {
    count: '11',
    share: 0,
    name: 'secret',
    email: 'nobody',
    kind: 'four',
    only: 'two',
    list: [],
    flag: 'yes',
    strict: { odd: 1 },
    own: 7,
  })
  assert.equal(problems, [
    'count: must be at most 10, not 11',
    'share: must be more than 0, not 0',
    'name: must have at most 3 characters',
    'email: must be an email address',
    'kind: must be one, two or three',
    'only: must be one',
    'list: must not be empty',
    'flag: must be true or false',
    'strict: unknown field odd',
    'own: is our own sentence',
    'missing: is missing',
  ])
})

test('names the whole value where no field is wrong, and writes steps as it is told', () => {
  assert.equal(validate(schema, 7, { whole: 'the document' }).problems, ['the document: must be an object'])
  assert.equal(validate(schema, 7).problems, ['must be an object'])
  const { problems } = validate(z.record(z.string(), z.number()), { key: 'x' }, { step: () => '…' })
  assert.equal(problems, ['…: must be a number'])
})

test('is nothing for a valid value, which is given as the schema makes it', () => {
  assert.equal(validate(z.object({ limit: z.coerce.number().default(3) }), {}), {
    data: { limit: 3 },
    problems: undefined,
  })
})

test.run()
