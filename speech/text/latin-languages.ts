import { readData } from '../shared/data.ts'

/**
 * Frequent words and greetings by ISO 639-1 code, for texts of a few words, where letter statistics say little. A word that two
 * languages share helps neither against the other. `only-en` are common English words that no other language in Latin letters
 * writes alike.
 */
const { 'only-en': onlyEnglish = [], ...lists } = readData<Record<string, readonly string[]>>('text/common-words.json')
const englishOnly = new Set(onlyEnglish)
const commonWords: Readonly<Record<string, ReadonlySet<string>>> = Object.fromEntries(
  Object.entries(lists).map(([code, words]) => [code, new Set(words)]),
)

/** Scores of a text by ISO 639-1 code, 0 to 1, as `eld` gives them; languages that share nothing with it are absent. */
type Scores = Readonly<Record<string, number>>

/** How `eld`'s scores become a decision; fitted on other sentences than `npm run bench -- languages` measures. */
const weights = {
  /** The weight of the text without names, relative to the whole, once it has `restLetters` letters. */
  rest: 4,
  restLetters: 12,
  absent: 0.45,
  /** Added to a language's score, times the square of the share of its common words in the text. */
  commonWords: 0.25,
  /** By how much a language must beat English, and how much more where fewer than `thinLetters` letters are left. */
  margin: 0.05,
  thinMargin: 0.45,
  thinLetters: 11,
} as const

/** Names stand in every language's sentences: capitalised words behind the first one, with the particles between them. */
const names =
  /(?<=[\p{L}\p{N},;:)’'"”]\s["“‘(]?)(?:(?:de|la|las|los|del|di|da|do|dos|du|des|van|von|der|den|zu|al|el|le|y|e|of) ){0,3}\p{Lu}[\p{L}\p{M}'’.-]*/gu

/** The languages that a text may be at home in, besides those whose letters are others. */
const codes: Readonly<Record<string, string>> = {
  ...{ English: 'en', German: 'de', French: 'fr', Spanish: 'es', Italian: 'it', Portuguese: 'pt', Dutch: 'nl' },
}

/**
 * The language of a text in Latin letters, by its English name; names weigh less than the rest. `home`, that of the text around
 * it, where the evidence for another language is thin. The detector (25 ms and 9 MB in the bundle, see bin/ngrams.mjs; 300 ms and 100 MB from the
 * sources) is loaded when the first text comes that is not evidently English.
 */
export async function detectLatinLanguage(sample: string, home = 'English'): Promise<string> {
  const homeCode = codes[home] ?? 'en'
  const words = [...new Set(wordsOf(sample))]
  if (isEvidentlyEnglish(words)) return 'English'
  const { eld } = await import('eld/small')
  const rest = sample.replace(/\s+/g, ' ').replace(names, ' ')
  const whole = eld.detect(sample).getScores()
  const apart = eld.detect(rest).getScores()
  // Capitals alone are a name or a title, in any language.
  const restLetters = /(?<![\p{L}\p{M}'’.-])\p{Ll}/u.test(rest) ? (rest.match(/\p{L}/gu)?.length ?? 0) : 0
  const share = weights.rest * Math.min(1, restLetters / weights.restLetters)
  const score = (code: string) =>
    (scoreOf(whole, code) + share * scoreOf(apart, code)) / (1 + share) +
    weights.commonWords * shareOf(words, commonWords[code]) ** 2

  const atHome = score(homeCode)
  let best = { code: homeCode, score: atHome }
  for (const code of new Set([...Object.keys(whole), ...Object.keys(apart), ...Object.keys(commonWords)]))
    if (score(code) > best.score) best = { code, score: score(code) }
  const thin = Math.max(0, 1 - restLetters / weights.thinLetters)
  return best.score - atHome > weights.margin + weights.thinMargin * thin ? nameOf(best.code) : nameOf(homeCode)
}

/** Loads the detector before the first text needs it: a server would stand still meanwhile. */
export async function loadDetector(): Promise<void> {
  await import('eld/small')
}

/** Two words that only English has, and a fair share of them, or one that is the whole text: no detector is needed. */
function isEvidentlyEnglish(words: readonly string[]): boolean {
  const found = words.filter((word) => englishOnly.has(word)).length
  return found > 0 && found >= Math.min(2, words.length) && found * 4 >= words.length
}

function wordsOf(text: string): readonly string[] {
  return (
    text
      .toLowerCase()
      .replaceAll('’', "'")
      .match(/[\p{L}\p{M}']+/gu) ?? []
  )
}

function scoreOf(scores: Scores, code: string): number {
  return scores[code] ?? weights.absent
}

function shareOf(words: readonly string[], known: ReadonlySet<string> | undefined): number {
  return known && words.length > 0 ? words.filter((word) => known.has(word)).length / words.length : 0
}

/** Malay and Indonesian are one to the detector; far more people write Indonesian. */
function nameOf(code: string): string {
  const name = code === 'ms' ? 'Indonesian' : Object.keys(codes).find((known) => codes[known] === code)
  // Its data take some 10 ms to load.
  return name ?? new Intl.DisplayNames(['en'], { type: 'language' }).of(code) ?? code
}
