/**
 * The retrieval measures of LongMemEval (Wu et al., 2025), after the definitions in its src/retrieval/eval_utils.py and
 * run_retrieval.py. A document is a user's turn; its id tells whether it answers: it then holds the word `answer`.
 */

/** The depths that the paper's program reports. */
export const depths = [1, 3, 5, 10, 30, 50] as const

export interface Scores {
  /** 1 when an answering document is among the first k. */
  readonly any: number
  /** 1 when all answering documents are. */
  readonly all: number
  /** Their discounted gain over that of the best order: the first two places count whole, the third 1/log2(3), and so on. */
  readonly ndcg: number
}

/** Whether a document answers, by its id. */
function answers(id: string): boolean {
  return id.includes('answer')
}

/**
 * The scores of a ranking at a depth. Where no document answers, `all` is 1 and the others are 0, as in the paper's program.
 * @param ranking the ids of all documents, the best first; documents of one session may share an id
 */
export function scoresAt(ranking: readonly string[], depth: number): Scores {
  const correct = [...new Set(ranking.filter(answers))]
  const first = new Set(ranking.slice(0, depth))
  const gains = ranking.map((id) => Number(answers(id)))
  const best = gain([...gains].sort((left, right) => right - left).slice(0, depth))
  return {
    any: Number(correct.some((id) => first.has(id))),
    all: Number(correct.every((id) => first.has(id))),
    ndcg: best === 0 ? 0 : gain(gains.slice(0, depth)) / best,
  }
}

function gain(gains: readonly number[]): number {
  return gains.reduce((sum, each, place) => sum + (place === 0 ? each : each / Math.log2(place + 1)), 0)
}

/**
 * The scores of a ranking of turns by their sessions: the depth grows until that many sessions are among the first turns.
 * A turn's id is its session's with the number of the turn behind the last `_`.
 */
export function sessionScoresAt(ranking: readonly string[], depth: number): Scores {
  const sessions = ranking.map((id) => id.slice(0, Math.max(0, id.lastIndexOf('_'))))
  let turns = depth
  while (turns <= sessions.length && new Set(sessions.slice(0, turns)).size < depth) turns++
  return scoresAt(sessions, turns)
}

/** The means of several scores; zeros for none. */
export function meanOf(all: readonly Scores[]): Scores {
  const mean = (name: keyof Scores) => all.reduce((sum, each) => sum + each[name], 0) / Math.max(1, all.length)
  return { any: mean('any'), all: mean('all'), ndcg: mean('ndcg') }
}
