/**
 * PostgreSQL's texts hold no U+0000 (https://www.postgresql.org/docs/current/datatype-character.html). The noncharacter U+FDD0
 * with a digit stands for it, and with another digit for itself, so that every text comes back as it was given.
 */
const escapeMark = '\ufdd0'

/** A text as the database keeps it. */
export function escapedText(text: string): string {
  if (!(text.includes('\0') || text.includes(escapeMark))) return text
  return text.replaceAll(/[\0\ufdd0]/g, (character) => `${escapeMark}${character === escapeMark ? 1 : 0}`)
}

/** The text that was given. */
export function givenText(kept: string): string {
  if (!kept.includes(escapeMark)) return kept
  return kept.replaceAll(/\ufdd0([01])/g, (_, digit) => (digit === '1' ? escapeMark : '\0'))
}
