import { english } from './english.ts'
import { applyRules, type Rules } from './rules.ts'

const rulesOf: Readonly<Record<string, Rules>> = { English: english }

/** A sentence as it is read aloud in a language; as it stands where the language has no rules here. */
export function readSentence(text: string, language: string): string {
  const rules = rulesOf[language]
  return rules ? applyRules(text, rules).map(({ spoken }) => spoken).join('') : text
}
