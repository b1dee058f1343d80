import * as assert from 'uvu/assert'
import { suite } from '../helpers/suite.ts'
import { dealRooms, nextOf } from './queues.ts'

const test = suite('the queues of the workers of the suite')

const seconds: Readonly<Record<string, number>> = { 'a/1': 5, 'a/2': 9, 'b/1': 6, 'c/1': 4, 'c/2': 1, d: 2 }
const deal = () => dealRooms(Object.keys(seconds), (file) => seconds[file]!, 2)

test('each has whole rooms, the longest file first, and about as much to do as the others', () => {
  assert.equal(deal(), [
    ['a/2', 'a/1'],
    ['b/1', 'c/1', 'd', 'c/2'],
  ])
})

test('a worker whose queue is empty takes from the one that has the most left', () => {
  const queues = deal()
  const taken = Array.from({ length: 7 }, () => nextOf(queues, 0))
  assert.equal(taken, ['a/2', 'a/1', 'b/1', 'c/1', 'd', 'c/2', undefined])
})

test.run()
