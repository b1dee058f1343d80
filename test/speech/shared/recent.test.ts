import * as assert from 'uvu/assert'
import { createRecent } from '../../../speech/shared/recent.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('values that were used of late')

test('the least recently used goes when there is one more than the most', () => {
  const recent = createRecent<number>(2)
  recent.set('one', 1)
  recent.set('two', 2)
  assert.is(recent.get('one'), 1)
  recent.set('three', 3)
  assert.equal(['one', 'two', 'three'].map(recent.get), [1, undefined, 3])
  recent.clear()
  recent.set('four', 4)
  recent.set('five', 5)
  assert.equal(['one', 'three', 'four', 'five'].map(recent.get), [undefined, undefined, 4, 5])
})

test('sizes are summed, a value that is set again counts once, and one that is too large is kept alone', () => {
  const recent = createRecent<string>(10, ({ length }) => length)
  recent.set('five', '12345')
  recent.set('more', '12345')
  recent.set('more', '54321')
  assert.equal(['five', 'more'].map(recent.get), ['12345', '54321'])
  recent.set('large', '123456789012')
  assert.equal(['five', 'more', 'large'].map(recent.get), [undefined, undefined, '123456789012'])
})

test.run()
