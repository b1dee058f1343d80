/**
 * A companion: whether the user's words are in the prompt when they are asked for, at the first asking and later ones, with a
 * model that answers "ok" and with one that answers wrongly.
 */

import { wordsInPrompts, wrongAnswer } from './memory-parts/asked-again.ts'
import { companionFacts } from './memory-parts/companion-facts.ts'
import { print } from './parts/figures.ts'

const rounds = 3

export async function bench(): Promise<void> {
  await measure('answers "ok"', () => 'ok')
  await measure('answers wrongly', wrongAnswer)
}

async function measure(name: string, answer: (said: string) => string): Promise<void> {
  const asked = await wordsInPrompts(rounds, answer)
  const counts = asked.map((questions) => questions.filter(({ isIn }) => isIn).length)
  const behind = asked.map((questions) => questions.filter(({ isBehindAnswer }) => isBehindAnswer).length)
  print(`\na model that ${name}, first / second / third asking, of ${companionFacts.length}:`)
  print(`  the user's words in the prompt: ${counts.join(' / ')}`)
  print(`  an answer before them or in their place: ${behind.join(' / ')}`)
  const missed = asked.at(-1)!.filter(({ isIn, isBehindAnswer }) => !isIn || isBehindAnswer)
  for (const { question, isIn } of missed) print(`    ${isIn ? 'behind an answer' : 'not in'}: ${question}`)
}
