import { dutch } from './dutch.ts'
import { english } from './english.ts'
import { french } from './french.ts'
import { german } from './german.ts'
import { italian } from './italian.ts'
import { portuguese } from './portuguese.ts'
import { applyRules, type Rules } from './rules.ts'
import { spanish } from './spanish.ts'

const rulesOf: Readonly<Record<string, Rules>> = {
  ...{ English: english, German: german, French: french, Spanish: spanish, Italian: italian, Portuguese: portuguese, Dutch: dutch },
}

/** A sentence as it is read aloud in a language; as it stands where the language has no rules here. */
export function readSentence(text: string, language: string): string {
  const rules = rulesOf[language]
  return rules ? applyRules(text, rules).map(({ spoken }) => spoken).join('') : text
}
