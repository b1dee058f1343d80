import * as assert from 'uvu/assert'
import { isOnlyQuestions } from '../../../src/personas/memory/questions.ts'
import { fixture } from '../../helpers/fixture.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('a turn that only asks')

const { asks, states } = fixture<Record<'asks' | 'states', readonly string[]>>('personas/turns.json')

for (const text of asks) test(`asks: ${text}`, () => assert.is(isOnlyQuestions(text), true))
for (const text of states) test(`states something: ${text}`, () => assert.is(isOnlyQuestions(text), false))

test('is read in time, however long', () => {
  for (const piece of ['?', 'a?', '. ', ', ', 'Dr. ', '¿', '\n', 'what is '])
    assert.type(isOnlyQuestions(piece.repeat(20_000)), 'boolean')
})

test.run()
