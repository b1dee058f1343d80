import * as assert from 'uvu/assert'
import type { Found } from '../../../src/personas/memory/memory.ts'
import { rank, rankingSteps } from '../../../src/personas/memory/ranking.ts'
import { type MemoryQuery, readQuery } from '../../../src/personas/memory/ranking-query.ts'
import { charactersAtOnce, inTurns } from '../../../src/process/heavy-turns.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('ranking')

/** Two memories of which one holds the term, as a store finds them. */
const found: Found = {
  memories: 2,
  meanLength: 8,
  frequencies: [1, 1],
  candidates: ['cat tuna', 'dog bone'].map((terms, at) => ({
    entry: {
      id: `${at}`,
      user_id: 'u',
      persona_id: 'p',
      content: terms,
      timestamp: 0,
      importance_score: 0.5,
      metadata: {},
    },
    terms,
    about: '',
    context: `< ${terms}\n> ${terms}`,
  })),
}

test('comes to an end for an empty term, which an index of an earlier version may hold, and passes it over', () => {
  for (const terms of [['', 'cat'], ['cat', ''], ['']]) {
    const query: MemoryQuery = {
      ...readQuery('cat'),
      terms: terms.map((term) => ({ term, worth: 1, isWord: true, isName: false })),
    }
    const ranked = rank({ ...found, frequencies: terms.map(() => 1) }, { query, vectors: undefined, now: 0 })
    assert.is(ranked.length, terms.includes('cat') ? 1 : 0)
  }
})

/** Many memories of the greatest length, each with the term. */
const longTerms = 'cat '.repeat(5_000).trim()
const long: Found = {
  memories: 120,
  meanLength: longTerms.length,
  frequencies: [120],
  candidates: Array.from({ length: 120 }, (_, at) => {
    const entry = { ...found.candidates[0]!.entry, id: `${at}`, content: longTerms, timestamp: at }
    return { entry, terms: longTerms, about: '', context: '' }
  }),
}
const asked = { query: readQuery('cat'), vectors: undefined, now: 0 }

test('reads little more than a slice of 120 long memories in one turn of the event loop, and ranks them as at once', async () => {
  let turn = 0
  let isOver = false
  const count = () => {
    turn++
    if (!isOver) setImmediate(count)
  }
  count()
  const read = new Map<number, number>()
  const { ranked, isCut } = await inTurns(counted())
  isOver = true
  assert.is(isCut, false)
  assert.equal(ranked, rank(long, asked))
  const most = Math.max(...read.values())
  // The last step of a slice may be one memory, or those that superseding compares.
  assert.ok(most <= charactersAtOnce + 16 * longTerms.length, `${most} characters in one turn`)
  const all = [...read.values()].reduce((sum, each) => sum + each)
  assert.ok(all >= 120 * longTerms.length && read.size > 20, `${all} characters in ${read.size} turns`)

  function* counted() {
    const steps = rankingSteps(long, asked)
    for (;;) {
      const { done, value } = steps.next()
      if (done) return value
      read.set(turn, (read.get(turn) ?? 0) + value)
      yield value
    }
  }
})

test('ranks the candidates that were read when its time is over, the first ones, and says that it is cut', async () => {
  let clock = 0
  const { ranked, isCut } = await inTurns(rankingSteps(long, { ...asked, isOver: () => clock++ === 10 }))
  assert.is(isCut, true)
  assert.equal(
    ranked.map(({ candidate }) => Number(candidate.entry.id)).sort((a, b) => a - b),
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
  )
})

test.run()
