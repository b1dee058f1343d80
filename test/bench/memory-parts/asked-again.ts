import { withUsers } from '../../helpers/program/user-daemon.ts'
import { completion, json } from '../../helpers/providers/fake-provider.ts'
import { companionFacts } from './companion-facts.ts'

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
  const asked: Asked[][] = []
  await withUsers(
    async ({ ada, persona, provider }) => {
      const path = await persona({ memory_settings: { enabled: true } })
      const say = async (content: string) => {
        const body = { persona: path.split('/').at(-1), messages: [{ role: 'user', content }] }
        const { status } = await ada('POST', '/api/chat', body)
        if (status !== 200) throw new Error(`a chat was answered ${status}`)
      }
      for (const [fact] of facts) await say(fact)
      for (let round = 0; round < rounds; round++) {
        const questions: Asked[] = []
        for (const [fact, question] of facts) {
          await say(question)
          const { messages } = JSON.parse(provider.received.at(-1)!.body)
          const lines = String(messages.at(-1).content).split('\n')
          const own = lines.findIndex((line) => line.includes(fact.slice(0, 100)) && !line.includes(', your answer'))
          const answered = lines.findIndex((line) => line.includes(', your answer'))
          const isBehindAnswer = answered >= 0 && (own < 0 || answered < own)
          questions.push({ question, isIn: own >= 0, isBehindAnswer })
        }
        asked.push(questions)
      }
    },
    {
      provider: (request, response) => {
        const said = String(JSON.parse(request.body).messages.at(-1).content).split('\n').at(-1)!
        json(response, 200, completion(answer(said)))
      },
    },
  )
  return asked
}

/** An answer that repeats the question and says something else than the user did. */
export function wrongAnswer(said: string): string {
  return `You told me about that: ${said.replace(/[?？¿]/gu, '')}. It is number 999, in Quito.`
}
