import { vocabulary } from './english-words.ts'

const { saidAs, ...lists } = vocabulary.acronyms
const [asWords, spelled] = [new Set(lists.asWords), new Set(lists.spelled)]

/** One syllable after another, as English words have them. */
const speakable =
  /^(?:(?:[BCDFGHJKLMNPRSTVWZ]|[BCFGP][LR]|[CGPSTW]H|[DT]R|S[CKLMNPTW]|KN|QU|TW|WR|S[CPT]R|[ST]HR)?[AEIOUY]{1,2}(?:[BCDFGKLMNPRSTVXZ]|N[DTGKS]|S[TKPS]|C[KT]|L[LTDKPM]|R[DTKMNS]|[FPR]T|M[PS]|[CST]H|[DTPK]S|FF)?){1,6}$/

/** How capitals are said: one by one where they make no word, are two or three, or are known for it; undefined as they stand. */
export function sayAcronym(capitals: string): string | undefined {
  const known = saidAs[capitals]
  if (known !== undefined || asWords.has(capitals)) return known
  return spelled.has(capitals) || capitals.length <= 3 || !speakable.test(capitals) ? spell(capitals) : undefined
}

/** Letters and digits one by one. */
export function spell(text: string): string {
  return [...text.toUpperCase()].join(' ')
}
