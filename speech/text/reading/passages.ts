import { detectLanguage, findLanguage } from '../languages.ts'
import { sanitize } from '../sanitize.ts'
import { splitSentences } from '../sentences.ts'
import type { Lexicon } from './lexicon.ts'
import { readAloud } from './reading.ts'
import { readSsml, type SsmlPart } from './ssml.ts'

export interface TextPart extends SsmlPart {
  /** Which voice, from 0, in a script of several. */
  readonly speaker?: number
}

/** The mark before the turn of a voice in a script of several: `[S1]`. */
const turnMark = /\[S([1-9])\]/

/** Written text made ready to be spoken, in the parts that its SSML makes. */
export type CleanText = ReturnType<typeof cleanText>

/** Takes markup out of a text and sanitises it; in a script its parts are the turns that `[S1]`, `[S2]`… begin. */
export function cleanText(text: string, { keepDirections = false, isScript = false } = {}) {
  /** Stage directions as they were written, and tags of SSML with their counts. */
  const leftOut: string[] = []
  const ssml = readSsml(text)
  /** Each with its sanitised text, none empty. */
  const parts: TextPart[] = []
  const written: readonly SsmlPart[] = ssml?.parts ?? [{ text }]
  for (const part of isScript ? turnsOf(written) : written) {
    const clean = sanitize(part.text, { keepDirections, onDirection: (written) => leftOut.push(written) })
    const last = parts.at(-1)
    if (clean !== '') parts.push({ ...part, text: clean })
    // A silence behind nothing lengthens the one before.
    else if (last && part.pause) parts[parts.length - 1] = { ...last, pause: (last.pause ?? 0) + part.pause }
  }
  for (const [name, count] of ssml?.leftOut ?? []) leftOut.push(`<${name}>${count > 1 ? ` (${count})` : ''}`)
  return { parts, leftOut }
}

/** The parts of one script, each beginning with the mark of the turn that it continues. */
export function withTurns(texts: readonly string[]): readonly string[] {
  let mark = ''
  return texts.map((text) => {
    const continued = mark + text
    mark = text.match(new RegExp(turnMark, 'g'))?.at(-1) ?? mark
    return continued
  })
}

/** The parts divided at the marks of a script; what stands before the first one is the first voice's. */
function* turnsOf(parts: readonly SsmlPart[]): Generator<TextPart> {
  let speaker = 0
  for (const { text, pause, ...part } of parts) {
    // Every second piece is the number of a mark.
    const pieces = text.split(turnMark)
    for (const [at, piece] of pieces.entries())
      if (at % 2 === 1) speaker = Number(piece) - 1
      else yield { ...part, text: piece, speaker, ...(at === pieces.length - 1 && { pause }) }
  }
}

/** A stretch of whole sentences in one language. */
export interface Passage extends TextPart {
  readonly language: string
  /** The paragraph of the text in which it begins, from 1. */
  readonly paragraph: number
}

/** Fewer letters or words in another language may be a name or a quotation: they belong to what is around them. */
const leastForeign = { letters: 50, words: 8, otherLetters: 16 } as const

/** Divides a text where its language changes; a short line, as a heading, belongs to what follows. With a named language all is in that. */
export async function dividePassages(parts: readonly TextPart[], named?: string): Promise<Passage[]> {
  const home = named ?? (await detectLanguage(parts.map(({ text }) => text).join('\n')))
  const units: { readonly part: number; readonly line: number; readonly text: string; readonly language?: string }[] =
    []
  let lines = 0
  for (const [part, { text }] of parts.entries())
    for (const line of text.split('\n')) {
      lines += 1
      for (const unit of named === undefined ? unitsOf(line) : [line])
        units.push({
          part,
          line: lines,
          text: unit,
          ...(named === undefined && isLong(unit) && { language: await detectLanguage(unit, home) }),
        })
    }
  const passages: Passage[] = []
  let [lastPart, lastLine] = [-1, 0]
  for (const [index, { part, line, text, ...unit }] of units.entries()) {
    const last = passages.at(-1)
    const language = unit.language ?? nextLanguage(index) ?? last?.language ?? home
    if (last && part === lastPart && last.language === language)
      passages[passages.length - 1] = { ...last, text: `${last.text}${line === lastLine ? ' ' : '\n'}${text}` }
    else {
      const { pause, ...rest } = parts[part]!
      if (last && part !== lastPart) passages[passages.length - 1] = { ...last, pause: parts[lastPart]!.pause }
      passages.push({ ...rest, ...(part === parts.length - 1 && { pause }), text, language, paragraph: line })
    }
    lastPart = part
    lastLine = line
  }
  return passages

  function nextLanguage(index: number): string | undefined {
    // A run of short lines looks ahead once for each; so far ahead is no heading's text.
    return units.slice(index, index + 8).find(({ language }) => language)?.language
  }
}

/** Sentences of a paragraph; a short one goes with the one before it, or the first with the one behind. */
function unitsOf(paragraph: string): string[] {
  const units: string[] = []
  for (const sentence of splitSentences(paragraph)) {
    const last = units.at(-1)
    if (last !== undefined && (!isLong(sentence) || !isLong(last))) units[units.length - 1] = `${last} ${sentence}`
    else units.push(sentence)
  }
  return units
}

function isLong(text: string): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  const latin = text.match(/\p{sc=Latin}/gu)?.length ?? 0
  if (latin * 2 < letters) return letters >= leastForeign.otherLetters
  return letters >= leastForeign.letters && (text.match(/\p{L}+/gu)?.length ?? 0) >= leastForeign.words
}

/** The words that are spoken for a text, whatever the engine, and what is left out of it. */
export async function readWritten(
  text: string,
  {
    language,
    keepDirections,
    lexicon,
  }: {
    readonly language?: string | undefined
    readonly keepDirections?: boolean | undefined
    readonly lexicon?: Lexicon | undefined
  },
): Promise<{ readonly text: string; readonly leftOut: readonly string[] }> {
  const { parts, leftOut } = cleanText(text, { keepDirections })
  const passages =
    parts.length === 0 ? [] : await dividePassages(parts, language && (findLanguage(language) ?? language))
  return {
    text: passages.map((passage) => readAloud(passage.text, passage.language, lexicon).text).join('\n'),
    leftOut,
  }
}
