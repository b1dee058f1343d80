import { openCompanions } from './companion-daemon.ts'
import { companionFacts } from './scenes.ts'

/** Where the user's own words stand in the prompt for a question about them. */
export interface Asked {
  readonly question: string
  /** Whether one of its lines holds them. */
  readonly isIn: boolean
  /** Whether an answer of the persona stands before them or in their place. */
  readonly isBehindAnswer: boolean
}

/**
 * Tells a persona facts and asks for each of them, several times over, each time in a chat of its own.
 * @param answer the model's answer to a message
 * @returns for each round, the questions in their order
 */
export async function wordsInPrompts(
  rounds: number,
  answer: (said: string) => string,
  facts = companionFacts,
): Promise<readonly Asked[][]> {
  await using companions = await openCompanions(answer)
  const companion = await companions.companion({ max_memories: 1000 })
  for (const [fact] of facts) await companion.say(fact)
  const asked: Asked[][] = []
  for (let round = 0; round < rounds; round++) {
    const questions: Asked[] = []
    for (const [fact, question] of facts) {
      const { prompt } = await companion.say(question)
      const own = prompt.findIndex((line) => line.includes(fact.slice(0, 100)) && !line.includes(', your answer'))
      const answered = prompt.findIndex((line) => line.includes(', your answer'))
      const isBehindAnswer = answered >= 0 && (own < 0 || answered < own)
      questions.push({ question, isIn: own >= 0, isBehindAnswer })
    }
    asked.push(questions)
  }
  return asked
}

/** An answer that repeats the question and says something else than the user did. */
export function wrongAnswer(said: string): string {
  return `You told me about that: ${said.replace(/[?？¿]/gu, '')}. It is number 999, in Quito.`
}
