import * as assert from 'uvu/assert'
import { Bag } from '../../src/process/bag.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('a bag')

test('it holds what was added and not removed, in any order of removal, and removing twice changes nothing', () => {
  const bag = new Bag<string>()
  const [a, b, c, d] = [bag.add('a'), bag.add('b'), bag.add('c'), bag.add('d')]
  const items = () => [...bag.items()].sort().join('')
  bag.remove(b)
  assert.is(items(), 'acd')
  bag.remove(b)
  bag.remove(d)
  assert.is(items(), 'ac')
  bag.add('b')
  bag.remove(a)
  bag.remove(c)
  assert.equal([items(), bag.size], ['b', 1])
})

test('what is removed while its items are looked at is still among them, and out of it', () => {
  const bag = new Bag<number>()
  const kept = [1, 2, 3].map((item) => bag.add(item))
  const seen: number[] = []
  for (const item of bag.items()) {
    seen.push(item)
    for (const each of kept) bag.remove(each)
  }
  assert.equal([seen, bag.size], [[1, 2, 3], 0])
})

test.run()
