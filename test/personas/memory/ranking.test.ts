import * as assert from 'uvu/assert'
import type { Found } from '../../../src/personas/memory/memory.ts'
import { rank } from '../../../src/personas/memory/ranking.ts'
import { type MemoryQuery, readQuery } from '../../../src/personas/memory/ranking-query.ts'
import { suite } from '../../suite.ts'

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

test.run()
