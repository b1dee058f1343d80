import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { suite } from '../helpers/suite.ts'
import { measure } from './longmemeval.ts'
import { readInstances } from './longmemeval-parts/data.ts'
import { scoresAt, sessionScoresAt } from './longmemeval-parts/scores.ts'

const scores = suite('the measures of LongMemEval')

const sample = fileURLToPath(new URL('./test/fixtures/longmemeval/sample.json', import.meta.resolve('#package')))

const near = (found: number, expected: number) =>
  assert.ok(Math.abs(found - expected) < 1e-9, `${found} is not ${expected}`)

scores('count turns: any, all, and the gain over that of the best order', () => {
  // Two of five turns answer, at places 2 and 4.
  const ranking = ['x_1', 'answer_a_1', 'x_2', 'answer_b_3', 'y_1']
  assert.equal([scoresAt(ranking, 1).any, scoresAt(ranking, 1).all, scoresAt(ranking, 1).ndcg], [0, 0, 0])
  // Of the first 3: gains 0, 1, 0. DCG = 0 + 1/log2(2) = 1; the best is 1, 1, 0: 1 + 1/log2(2) = 2.
  assert.equal([scoresAt(ranking, 3).any, scoresAt(ranking, 3).all], [1, 0])
  near(scoresAt(ranking, 3).ndcg, 1 / 2)
  // Of the first 5: gains 0, 1, 0, 1, 0. DCG = 1 + 1/log2(4) = 1.5; the best is 2.
  assert.equal([scoresAt(ranking, 5).any, scoresAt(ranking, 5).all], [1, 1])
  near(scoresAt(ranking, 5).ndcg, 1.5 / 2)
})

scores('count sessions by their turns: the depth grows until so many sessions are there', () => {
  // Sessions in order: x, x, answer_a, y. Depth 2 takes three turns, of which the third answers.
  const ranking = ['x_1', 'x_2', 'answer_a_5', 'y_1']
  assert.equal([sessionScoresAt(ranking, 1).any, sessionScoresAt(ranking, 2).any], [0, 1])
  // Three turns: gains 0, 0, 1. DCG = 1/log2(3); the best is 1.
  near(sessionScoresAt(ranking, 2).ndcg, 1 / Math.log2(3))
  // More sessions than there are: all turns are taken.
  assert.equal(sessionScoresAt(ranking, 50).all, 1)
  // A turn of the answering session that does not answer counts as another session.
  assert.is(sessionScoresAt(['noans_a_1', 'answer_a_2'], 1).any, 0)
})

scores('of a history without an answering turn are those of the official program', () => {
  assert.equal(scoresAt(['x_1', 'x_2'], 5), { any: 0, all: 1, ndcg: 0 })
})

scores('know the turns of the user alone, and which of them answer', () => {
  const [first, second, third] = [...readInstances(sample)]
  assert.equal(
    first!.turns.map(({ id }) => id),
    ['ultrachat_1_1', 'noans_a1_1', 'answer_a1_3', 'ultrachat_2_1'],
  )
  assert.equal([first!.isAbstention, second!.isAbstention], [false, true])
  assert.is(first!.turns[0]!.timestamp, Date.UTC(2023, 4, 20, 2, 21))
  assert.equal(
    third!.turns.map(({ id }) => id),
    ['answer_b1_1_1', 'noans_b1_2_1', 'answer_b1_2_2'],
  )
})

scores('come of the sample through the store as by hand', async () => {
  const rows = await measure(sample)
  const at = (level: string, depth: number) => rows.find((row) => row.level === level && row.depth === depth)!
  assert.is(at('turn', 1).questions, 2, 'the question without an answer is left out')
  // The boat's turn is first, as is that of the telescopes: any is 1 for both. The second telescope shares no word with the
  // question, so that all is 1 for the boat alone.
  assert.equal([at('turn', 1).scores.any, at('turn', 1).scores.all, at('turn', 1).scores.ndcg], [1, 0.5, 1])
  // All four and three turns are within the first five.
  assert.equal([at('turn', 5).scores.any, at('turn', 5).scores.all], [1, 1])
  assert.equal([at('session', 1).scores.any, at('session', 1).scores.all], [1, 0.5])
})

scores.run()
