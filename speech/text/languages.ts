import { detectLatinLanguage } from './latin-languages.ts'

export { loadDetector } from './latin-languages.ts'

/** The languages of the specification, as they are written on the wire, with the codes that clients use for them. */
const languages = {
  English: ['en', 'eng'],
  Chinese: ['zh', 'zho', 'cmn', 'mandarin'],
  Japanese: ['ja', 'jpn', 'jp'],
  Korean: ['ko', 'kor', 'kr'],
  German: ['de', 'deu', 'ger', 'deutsch'],
  French: ['fr', 'fra', 'fre'],
  Spanish: ['es', 'spa'],
  Italian: ['it', 'ita'],
  Portuguese: ['pt', 'por'],
  Russian: ['ru', 'rus'],
} as const

export type Language = keyof typeof languages

export const languageNames = Object.keys(languages) as readonly Language[]

/** A language by its English name or code, in any case, with or without a region (`en-GB`); undefined when it is none of the ten. */
export function findLanguage(name: string): Language | undefined {
  const wanted = name.trim().toLowerCase()
  const code = wanted.split(/[-_]/)[0] ?? ''
  return languageNames.find(
    (language) => language.toLowerCase() === wanted || (languages[language] as readonly string[]).includes(code),
  )
}

/** The language that a script is taken for, its letters, and how many letters of an alphabet one of them stands for. */
const scripts = [
  { language: 'Japanese', letters: /[\p{sc=Hiragana}\p{sc=Katakana}]/gu, weight: 2 },
  { language: 'Korean', letters: /\p{sc=Hangul}/gu, weight: 2 },
  { language: 'Chinese', letters: /\p{sc=Han}/gu, weight: 2 },
  { language: 'Russian', letters: /\p{sc=Cyrillic}/gu, weight: 1 },
  { language: 'Arabic', letters: /\p{sc=Arabic}/gu, weight: 1 },
  { language: 'Hebrew', letters: /\p{sc=Hebrew}/gu, weight: 1 },
  { language: 'Greek', letters: /\p{sc=Greek}/gu, weight: 1 },
  { language: 'Hindi', letters: /\p{sc=Devanagari}/gu, weight: 1 },
  { language: 'Bengali', letters: /\p{sc=Bengali}/gu, weight: 1 },
  { language: 'Tamil', letters: /\p{sc=Tamil}/gu, weight: 1 },
  { language: 'Telugu', letters: /\p{sc=Telugu}/gu, weight: 1 },
  { language: 'Thai', letters: /\p{sc=Thai}/gu, weight: 1 },
  { language: 'Georgian', letters: /\p{sc=Georgian}/gu, weight: 1 },
  { language: 'Armenian', letters: /\p{sc=Armenian}/gu, weight: 1 },
  { language: 'Amharic', letters: /\p{sc=Ethiopic}/gu, weight: 1 },
] as const

/** Only the beginning is looked at: the language of a text shows in its first sentences. */
const sampleLength = 4000

/**
 * The language a text is written in, by its English name (`German`, `Vietnamese`, `Arabic`). The script decides first;
 * in Latin letters it is English unless another language is clearly there, so that names, loan words and short phrases
 * do not take English text for something else; for a part of a text in another language, that is its `home`. `an unknown language` where no
 * script of the table is used.
 */
export async function detectLanguage(text: string, home?: string): Promise<string> {
  const sample = text.slice(0, sampleLength)
  const all = count(sample, /\p{L}/gu)
  const latin = count(sample, /\p{sc=Latin}/gu)
  const counts = scripts.map(({ language, letters, weight }) => ({
    language,
    letters: weight * count(sample, letters),
  }))
  const known = counts.reduce((sum, { letters }) => sum + letters, 0)
  // A foreign name in an English sentence is no change.
  if (Math.max(known, all - latin) <= latin) return detectLatinLanguage(sample, home)
  if (known === 0) return 'an unknown language'
  // Japanese mixes kana into Chinese characters; any noticeable share of kana decides.
  if (counts[0]!.letters * 10 >= known) return 'Japanese'
  const { language } = counts.reduce((best, next) => (next.letters > best.letters ? next : best))
  return language === 'Russian' ? detectCyrillicLanguage(sample) : language
}

/** Letters that only one of the languages writes, and frequent words of Ukrainian that are not Russian. */
const cyrillicSigns = [
  { language: 'Russian', signs: /[ыэё]/giu },
  {
    language: 'Ukrainian',
    signs:
      /[іїєґ]|(?<!\p{L})(?:що|чи|через|буде|було|дуже|від|та|як|якщо|треба|купили|гарна|гарно|хто|вона|вони|дякую|мене|добре|моя|мій)(?!\p{L})/giu,
  },
  { language: 'Serbian', signs: /[ђјљњћџ]/giu },
  { language: 'Belarusian', signs: /ў/giu },
  {
    language: 'Bulgarian',
    signs:
      /(?<!\p{L})(?:ще|съм|е|са|от|със|във|това|тази|този|няма|какво|много)(?!\p{L})|ъ(?=[бвгджзклмнпрстфхцчш])/giu,
  },
]

function detectCyrillicLanguage(sample: string): string {
  const counts = cyrillicSigns.map(({ language, signs }) => ({ language, found: count(sample, signs) }))
  return counts.reduce((best, next) => (next.found > best.found ? next : best)).language
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}
