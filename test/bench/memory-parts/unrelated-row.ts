import type { Row } from './aims.ts'
import { areaUnder } from './area.ts'
import { openClock, openCompanions } from './companion-daemon.ts'
import { readScenes, timeOf, today } from './scenes.ts'

interface Unrelated {
  /** One person's memories, in the order in which they were said. */
  readonly memories: readonly string[]
  /** Questions with the words of the memory that answers each. */
  readonly related: readonly (readonly [question: string, words: string])[]
  readonly prompts: Readonly<Record<string, readonly string[]>>
}

/** Prompts that no memory helps with. */
export async function unrelatedRow(): Promise<Row> {
  const { memories, related, prompts } = readScenes<Unrelated>('unrelated')
  using clock = openClock()
  await using companions = await openCompanions()
  const companion = await companions.companion()
  for (const [at, text] of memories.entries()) {
    clock.set(timeOf(memories.length - at))
    await companion.say(text)
  }
  clock.set(today)
  const stored = memories.map((text) => text.slice(0, 60))
  const recalled = (lines: readonly string[]) => lines.filter((line) => stored.some((text) => line.includes(text)))
  // What stands in every prompt is the profile, and not found.
  const always = recalled(await companion.promptFor('ok'))
  const foundFor = async (text: string) =>
    recalled(await companion.promptFor(text)).filter((line) => !always.includes(line))

  const missed: string[] = []
  const strangers = Object.values(prompts).flat()
  const strange: number[] = []
  for (const text of strangers) {
    const [found] = await foundFor(text)
    if (found !== undefined) missed.push(`${text} → ${found}`)
    strange.push(await companion.bestScore(text))
  }
  let inPrompt = 0
  const scores: number[] = []
  for (const [question, words] of related) {
    const lines = await companion.promptFor(question)
    if (lines.some((line) => line.includes(words))) inPrompt++
    scores.push(await companion.bestScore(question))
  }
  const silent = strangers.length - missed.length
  const share = ((100 * silent) / strangers.length).toFixed(1)
  return {
    what: `unrelated prompts without any found memory (${strangers.length})`,
    figure: `${silent} = ${share} % (AUC of the best score ${areaUnder(scores, strange)}; ${inPrompt} of ${related.length} related ones have theirs)`,
    aim: '≥ 92 %, AUC ≥ .90',
    missed,
  }
}
