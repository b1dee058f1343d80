import * as assert from 'uvu/assert'
import { Bag } from '../../src/process/bag.ts'
import { collectYielding, yieldToEventLoop } from '../../src/process/event-loop-turns.ts'
import { oncePerTurn } from '../../src/process/turn.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('work between two turns of the event loop')

test('a thing leaves a bag once, and the others stay', () => {
  const bag = new Bag<string>()
  const [one, two] = [bag.add('one'), bag.add('two'), bag.add('three')]
  bag.remove(one)
  bag.remove(one)
  assert.equal([...bag.items()].sort(), ['three', 'two'])
  bag.remove(two)
  assert.equal(bag.items(), ['three'])
})

test('a value is read once in a turn, and again in a later one or after 64 uses', async () => {
  let reads = 0
  const read = oncePerTurn(() => ++reads)
  assert.equal([read(), read()], [1, 1])
  await yieldToEventLoop()
  assert.equal(Array.from({ length: 65 }, read), [...new Array(64).fill(2), 3])
})

test('a long list is collected whole and in its order, while other work runs', async () => {
  const numbers = Array.from({ length: 450 }, (_, at) => at)
  let turns = 0
  setImmediate(() => turns++)
  assert.equal(await collectYielding(numbers), numbers)
  assert.is(turns, 1)
})

test.run()
