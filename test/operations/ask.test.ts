import * as assert from 'uvu/assert'
import { z } from 'zod'
import { AppError } from '../../src/errors.ts'
import { parseInput } from '../../src/operations/ask.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('inputs of operations')

test('a long list is looked at up to its nineteenth wrong item', () => {
  let looked = 0
  const item = z.number().refine((value) => {
    looked++
    return value >= 0
  })
  const input = z.looseObject({ list: z.array(item).max(5000) })
  const list = Array.from({ length: 4000 }, (_, at) => (at % 3 === 0 ? at : -1))
  let thrown: unknown
  try {
    parseInput({ input }, { list })
  } catch (reason) {
    thrown = reason
  }
  assert.instance(thrown, AppError)
  assert.is((thrown as AppError).details.length, 20)
  assert.is((thrown as AppError).details.at(-1), 'list: the items from 29 on were not verified')
  assert.ok((thrown as AppError).details[0]!.startsWith('list.1: '))
  assert.ok(looked < 100, `${looked} items looked at`)
  const fine = { list: Array(4000).fill(1), other: 'x' }
  assert.equal(parseInput({ input }, fine), fine)
})

test.run()
