import * as assert from 'uvu/assert'
import { Holding } from '../../../src/usage/limits/holding.ts'
import { SubjectLimits, slotsAt } from '../../../src/usage/limits/subject-limits.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('a subject at an instance of several')

const document = { rpm: 400, tpm: 4000, parallel: 9 }

test('a lease covers requests until one of its counts is used up, or its time is over', () => {
  const holding = new Holding('all', document)
  const lease = (requests: number, tokens: number, places: number) => {
    const extra = { requests, tokens, places }
    const sent = holding.send({ requests: 1, tokens: 1 }, 0)
    holding.receive(sent, { limits: new SubjectLimits('all', document), extra }, { counted: slotsAt(0) }, 0, 1000)
  }
  assert.is(holding.covers(0, 0), false, 'without a lease')
  lease(2, 20, 2)
  assert.equal([holding.covers(20, 999), holding.covers(21, 999), holding.covers(20, 1000)], [true, false, false])
  holding.take(20, 0)
  assert.equal([holding.covers(0, 0), holding.covers(1, 0)], [true, false])
  holding.take(0, 0)
  assert.is(holding.covers(0, 0), false, 'no request is left')
  lease(2, 20, 0)
  assert.is(holding.covers(0, 0), false, 'no place is left')
})

test('a question asks for twice what was used since the last one, where that was within a second', () => {
  const holding = new Holding('all', document)
  const soon = (now: number) => holding.send({ requests: 1, tokens: 10 }, now).soon
  holding.begin(30)
  assert.equal(soon(0), { requests: 0, tokens: 0 })
  holding.begin(30)
  assert.equal(soon(999), { requests: 4, tokens: 80 })
  assert.equal(soon(1500), { requests: 2, tokens: 20 }, 'nothing was used')
  assert.equal(soon(2500), { requests: 0, tokens: 0 })
})

test.run()
