import { completion, json } from '../../fake-provider.ts'
import { withUsers } from '../../server/user-daemon.ts'
import { companionFacts } from './companion-facts.ts'

/**
 * Tells a persona the facts and asks for each of them, several times over, each time in a chat of its own with a model that
 * answers "ok". For each round: how often the user's own words stand in the prompt.
 */
export async function wordsInPrompts(rounds: number): Promise<readonly number[]> {
  const counts: number[] = []
  await withUsers(
    async ({ ada, persona, provider }) => {
      const path = await persona({ memory_settings: { enabled: true } })
      const say = async (content: string) => {
        const body = { persona: path.split('/').at(-1), messages: [{ role: 'user', content }] }
        const { status } = await ada('POST', '/api/chat', body)
        if (status !== 200) throw new Error(`a chat was answered ${status}`)
      }
      for (const [fact] of companionFacts) await say(fact)
      for (let round = 0; round < rounds; round++) {
        let found = 0
        for (const [fact, question] of companionFacts) {
          await say(question)
          const { messages } = JSON.parse(provider.received.at(-1)!.body)
          const lines = String(messages[0].content).split('\n')
          if (lines.some((line) => line.includes(fact.slice(0, 100)) && !line.includes(', your answer'))) found++
        }
        counts.push(found)
      }
    },
    { provider: (_request, response) => json(response, 200, completion('ok')) },
  )
  return counts
}
