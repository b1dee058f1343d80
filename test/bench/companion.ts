/**
 * A companion, as its user meets it: what stands in the prompt when it matters, what stays, and what is forgotten. Each row of
 * the aims tells a persona something over the public operations, with the built-in embedder and a clock of its own, and reads
 * what a model would be sent. `AICHAT_BENCH_ROWS=standing,times` measures these rows alone.
 */

import { printAims, type Row } from './memory-parts/aims.ts'
import { wordsInPrompts, wrongAnswer } from './memory-parts/asked-again.ts'
import { forgettingRow } from './memory-parts/forgetting-row.ts'
import { fullStoreRow, weekRow } from './memory-parts/life-rows.ts'
import { changesRow, kinRow, standingRow, timesRow } from './memory-parts/scene-rows.ts'
import { companionFacts } from './memory-parts/scenes.ts'
import { unrelatedRow } from './memory-parts/unrelated-row.ts'
import { print } from './parts/figures.ts'

const rounds = 3

const rows: Readonly<Record<string, () => Promise<Row>>> = {
  asked: () => askedRow('answers "ok"', () => 'ok'),
  wrong: () => askedRow('answers wrongly', wrongAnswer),
  standing: standingRow,
  'changes-unshared': () => changesRow('changes-unshared', 'no shared words', '≥ 9'),
  'changes-shared': () => changesRow('changes-shared', 'some shared words', '≥ 11'),
  'changes-unseen': () => changesRow('changes-unseen', 'everyday words, never fitted', 'none set'),
  unrelated: unrelatedRow,
  times: timesRow,
  kin: kinRow,
  store: fullStoreRow,
  week: weekRow,
  forgetting: forgettingRow,
}

export async function bench(): Promise<void> {
  const names = process.env['AICHAT_BENCH_ROWS']?.split(',') ?? Object.keys(rows)
  const unknown = names.filter((name) => !rows[name])
  if (unknown.length > 0) {
    process.exitCode = 64
    return print(`There is no row ${unknown.join(', ')}; there is ${Object.keys(rows).join(', ')}`)
  }
  const measured: Row[] = []
  for (const name of names) measured.push(await rows[name]!())
  printAims(measured)
}

async function askedRow(model: string, answer: (said: string) => string): Promise<Row> {
  const asked = await wordsInPrompts(rounds, answer)
  const counts = asked.map(
    (questions) => questions.filter(({ isIn, isBehindAnswer }) => isIn && !isBehindAnswer).length,
  )
  const behind = asked.map((questions) => questions.filter(({ isBehindAnswer }) => isBehindAnswer).length)
  const missed = asked.at(-1)!.filter(({ isIn, isBehindAnswer }) => !isIn || isBehindAnswer)
  return {
    what: `user's words in the prompt, first / second / third asking, of ${companionFacts.length}; the model ${model}`,
    figure: `${counts.join(' / ')} (an answer before them or in their place: ${behind.join(' / ')})`,
    aim: '≥ 50 / 50 / 50',
    missed: missed.map(({ question, isIn }) => `${isIn ? 'behind an answer' : 'not in'}: ${question}`),
  }
}
