import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Companion, openClock } from './companion-daemon.ts'

/** When something was said: days before `today`, at noon, or a time such as `2027-03-09T09:30`. In UTC. */
export type When = number | string

export type Statement = readonly [when: When, text: string]

/** What a user says on earlier days, what is asked then, and what has to stand in the prompt for it. */
export interface Scene {
  readonly id: string
  readonly language: string
  readonly said: readonly Statement[]
  readonly pinned?: readonly string[]
  readonly ask: string
  /** A line of the prompt holds one of these, in lower case. */
  readonly in: readonly string[]
  /** No line that holds one of these, and none of `in`, stands before it. */
  readonly out?: readonly string[]
}

/** The time of the questions: a Monday evening. */
export const today = Date.UTC(2027, 2, 15, 18)

const dayMs = 86_400_000

export function timeOf(when: When): number {
  return typeof when === 'string' ? Date.parse(`${when}Z`) : today - when * dayMs - 6 * 3_600_000
}

/** A table of the folder `scenes`. */
export function readScenes<T>(name: string): T {
  const folder = fileURLToPath(new URL('test/bench/memory-parts/scenes/', import.meta.resolve('#package')))
  return JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'))
}

/** What a user says to a companion, and the question for it: ten kinds, in the manner of chats. Names are invented. */
export const companionFacts = readScenes<readonly (readonly [fact: string, question: string])[]>('companion-facts')

/** Says everything in the order of its time, with 30 trivial lines between, in the language of the scene and in English. */
export async function live(
  companion: Companion,
  clock: ReturnType<typeof openClock>,
  { said, language, pinned = [] }: Pick<Scene, 'said' | 'language' | 'pinned'>,
): Promise<void> {
  const trivial = readScenes<Record<string, readonly string[]>>('trivial')
  const own = language === 'en' ? [] : (trivial[language] ?? [])
  const lines = [...own, ...trivial['en']!].slice(0, 30)
  // Steps of 17 among 30 lines mix the languages.
  const spread = lines.map((_, at): Statement => [1.1 + at * 2.3, lines[(at * 17) % lines.length]!])
  for (const content of pinned) {
    clock.set(timeOf(65))
    await companion.pin(content)
  }
  for (const [when, text] of [...said, ...spread].sort(([a], [b]) => timeOf(a) - timeOf(b))) {
    clock.set(timeOf(when))
    await companion.say(text)
  }
  clock.set(today)
}

/** Whether what has to be in a prompt is, before everything that is out; `alone` says that nothing of the latter is there. */
export function judge(prompt: readonly string[], scene: Pick<Scene, 'in' | 'out'>) {
  const holds = (line: string, words: readonly string[] = []) =>
    words.some((word) => line.toLowerCase().includes(word.toLowerCase()))
  const present = prompt.findIndex((line) => holds(line, scene.in))
  const outdated = prompt.findIndex((line) => holds(line, scene.out) && !holds(line, scene.in))
  return {
    isIn: present >= 0,
    isFirst: present >= 0 && (outdated < 0 || present < outdated),
    isAlone: present >= 0 && outdated < 0,
  }
}
