import * as assert from 'uvu/assert'
import { batchesOf } from '../../../src/cli/persona/memory-lines.ts'
import { pluck } from '../../helpers/pluck.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('memories from lines')

/** A memory of so many characters as JSON. */
const sized = (size: number) => ({ content: 'x'.repeat(size - JSON.stringify({ content: '' }).length) })
const many = (count: number) => Array.from({ length: count }, () => sized(20))

const rows: readonly (readonly [what: string, memories: readonly object[], sizes: readonly number[]])[] = [
  ['none', [], [0]],
  ['200', many(200), [200]],
  ['201', many(201), [200, 1]],
  ['500,000 characters', [sized(250_000), sized(250_000)], [2]],
  ['one character more', [sized(250_000), sized(250_001)], [1, 1]],
  ['a long one before and after short ones', [sized(20), sized(600_000), sized(20), sized(20)], [1, 1, 2]],
  ['characters of the batch alone', [sized(400_000), sized(400_000), sized(100_000), sized(1000)], [1, 2, 1]],
]

for (const [what, memories, sizes] of rows)
  test(`${what} are sent in batches of ${sizes.join(' and ')}`, () => {
    const batches = batchesOf(memories)
    assert.equal(pluck(batches, 'length'), sizes)
    assert.equal(batches.flat(), memories)
  })

test.run()
