import { isAnswer } from '../../../src/personas/memory/kinds.ts'
import { isOnlyQuestions } from '../../../src/personas/memory/questions.ts'
import type { Row } from './aims.ts'
import { openClock, openCompanions } from './companion-daemon.ts'
import { judge, readScenes, type Scene, type Statement, timeOf, today } from './scenes.ts'

interface FullStore {
  readonly limit: number
  /** Each with words that tell it, and for some a question that was asked about it in between. */
  readonly facts: readonly { readonly said: Statement; readonly words: string; readonly asked?: readonly Statement[] }[]
  readonly people: readonly string[]
  readonly matters: readonly string[]
}

/** Facts that matter, and then more trivial meetings than the store has room for. */
export async function fullStoreRow(): Promise<Row> {
  const { limit, facts, people, matters } = readScenes<FullStore>('store')
  using clock = openClock()
  await using companions = await openCompanions()
  const companion = await companions.companion({ max_memories: limit })
  const meetings = Array.from({ length: 60 }, (_, at): Statement => {
    const [who, what] = [people[at % people.length], matters[(at * 7) % matters.length]]
    return [60 - at * 0.9, `Meeting with ${who} about ${what} at ${9 + (at % 8)} o'clock.`]
  })
  const turns = [...facts.flatMap(({ said, asked = [] }) => [said, ...asked]), ...meetings]
  for (const [when, text] of turns.sort(([a], [b]) => timeOf(a) - timeOf(b))) {
    clock.set(timeOf(when))
    await companion.say(text)
  }
  const kept = (await companion.memories()).filter(({ metadata }) => !isAnswer(metadata))
  const lost = facts.filter(({ words }) => !kept.some(({ content }) => content.includes(words)))
  return {
    what: `facts that survive a full store (${facts.length})`,
    figure: `${facts.length - lost.length}`,
    aim: '≥ 8',
    missed: lost.map(({ said }) => said[1]),
  }
}

interface Week {
  /** Words of a turn that is worth keeping; null where it is not. */
  readonly turns: readonly { readonly at: string; readonly said: string; readonly keep: string | null }[]
  readonly questions: readonly Scene[]
}

/** A week of turns, a session for each day, and questions on the day after. */
export async function weekRow(): Promise<Row> {
  const { turns, questions } = readScenes<Week>('week')
  using clock = openClock()
  await using companions = await openCompanions()
  const companion = await companions.companion()
  const sessions = new Map<string, string>()
  for (const { at, said } of turns) {
    clock.set(timeOf(at))
    const day = at.slice(0, 10)
    if (!sessions.has(day)) sessions.set(day, await companion.session(day))
    await companion.say(said, sessions.get(day))
  }
  const stored = (await companion.memories()).filter(
    ({ content, metadata }) => !isAnswer(metadata) && !isOnlyQuestions(content),
  )
  const isStored = (words: string) => stored.some(({ content }) => content.includes(words))
  const worth = turns.flatMap(({ keep }) => keep ?? [])
  const lost = worth.filter((words) => !isStored(words))
  const others = turns.filter(({ keep, said }) => keep === null && stored.some(({ content }) => content === said))
  clock.set(today)
  const missed: string[] = []
  for (const scene of questions)
    if (!judge((await companion.say(scene.ask)).prompt, scene).isFirst) missed.push(`not answered: ${scene.ask}`)
  return {
    what: `turns kept of a week (${worth.length}), its questions answered (${questions.length})`,
    figure: `${worth.length - lost.length}, ${questions.length - missed.length} (of ${turns.length - worth.length} other turns ${others.length} kept)`,
    aim: '≥ 22, 8',
    missed: [...lost.map((words) => `not kept: ${words}`), ...others.map(({ said }) => `kept: ${said}`), ...missed],
  }
}
