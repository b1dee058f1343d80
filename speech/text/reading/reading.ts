import { splitSentences } from '../sentences.ts'
import { dutch } from './dutch.ts'
import { english } from './english.ts'
import { french } from './french.ts'
import { german } from './german.ts'
import { italian } from './italian.ts'
import type { Lexicon } from './lexicon.ts'
import { portuguese } from './portuguese.ts'
import { applyRules, type Rules, type Stretch } from './rules.ts'
import { spanish } from './spanish.ts'

const rulesOf: Readonly<Record<string, Rules>> = {
  ...{ English: english, German: german, French: french, Spanish: spanish, Italian: italian },
  ...{ Portuguese: portuguese, Dutch: dutch },
}
const noRules: Rules = { digits: [], letters: [], signs: [] }

/** A word of a text as it was written, or several that are read as one, and how many words are spoken for it. */
export interface WrittenWord {
  readonly text: string
  readonly spoken: number
}

export interface Reading {
  readonly text: string
  /** The words as they were written, in their order; together they have every spoken word. */
  readonly words: readonly WrittenWord[]
  /** The sounds of words, by the word in small letters, for an engine that takes them. */
  readonly phones: Readonly<Record<string, string>>
}

/**
 * Reads a sanitised text in a language by its rules, sentence by sentence: numbers, dates, sums, units and abbreviations become
 * words. A word of the lexicon is said as that has it. Other languages than those with rules stay as they are.
 */
export function readAloud(text: string, language: string, lexicon?: Lexicon): Reading {
  const phones: Record<string, string> = {}
  const rules = rulesOf[language] ?? noRules
  if (rules === noRules && !lexicon) return { text, words: wordsOf([{ written: text, spoken: text }]), phones }
  const stretches: Stretch[] = []
  let from = 0
  for (const sentence of splitSentences(text)) {
    const at = text.indexOf(sentence, from)
    const between = text.slice(from, at)
    stretches.push({ written: between, spoken: between })
    // A sentence may have more stretches than a call takes arguments.
    for (const stretch of readSentence(sentence)) stretches.push(stretch)
    from = at + sentence.length
  }
  stretches.push({ written: text.slice(from), spoken: text.slice(from) })
  return { text: stretches.map(({ spoken }) => spoken).join(''), words: wordsOf(stretches), phones }

  function readSentence(sentence: string): Stretch[] {
    const read = applyRules(sentence, rules, (at) => {
      const found = lexicon?.find(sentence, at)
      if (found && 'phones' in found.said) phones[found.written.toLowerCase()] = found.said.phones
      return found && { written: found.written, spoken: 'words' in found.said ? found.said.words : found.written }
    })
    // The dot of `5 p.m.` ends its sentence too.
    const last = read.at(-1)
    if (last && /[.]["'”’)]*$/.test(sentence) && !/[.!?…]["'”’)]*$/.test(last.spoken))
      read[read.length - 1] = { ...last, spoken: `${last.spoken}.` }
    return read
  }
}

/** Which written words the spoken ones stand for. */
function wordsOf(stretches: readonly Stretch[]): WrittenWord[] {
  const written = stretches.map((stretch) => stretch.written).join('')
  const spoken = stretches.map((stretch) => stretch.spoken).join('')
  const groups: { from: number; to: number; spoken: number }[] = []
  let [index, spokenFrom, writtenFrom] = [0, 0, 0]
  /** The stretch of written text that a spoken sign stands for. */
  const placeOf = (at: number): readonly [from: number, to: number] => {
    while (at >= spokenFrom + stretches[index]!.spoken.length) {
      spokenFrom += stretches[index]!.spoken.length
      writtenFrom += stretches[index]!.written.length
      index += 1
    }
    const stretch = stretches[index]!
    if (stretch.written === stretch.spoken) return [writtenFrom + at - spokenFrom, writtenFrom + at - spokenFrom + 1]
    return [writtenFrom, writtenFrom + stretch.written.length]
  }
  const bounds = [...written.matchAll(/\S+/g)].map(({ 0: word, index }) => ({ from: index, to: index + word.length }))
  let bound = 0
  for (const { 0: word, index: at } of spoken.matchAll(/\S+/g)) {
    const [from] = placeOf(at)
    const [, to] = placeOf(at + word.length - 1)
    while (bound < bounds.length - 1 && bounds[bound]!.to <= from) bound += 1
    const start = Math.min(bounds[bound]?.from ?? from, from)
    while (bound < bounds.length - 1 && bounds[bound]!.to < to && bounds[bound + 1]!.from < to) bound += 1
    const end = Math.max(bounds[bound]?.to ?? to, to)
    const last = groups.at(-1)
    if (last && from < last.to) {
      last.to = Math.max(last.to, end)
      last.spoken += 1
    } else groups.push({ from: start, to: end, spoken: 1 })
  }
  return groups.map(({ from, to, spoken }) => ({ text: written.slice(from, to).trim(), spoken }))
}
