import { extname } from 'node:path'
import { splitSentences, type WordTime } from '../../../speech/speech.ts'
import { AppError } from '../../errors.ts'
import type { HeardWords } from './word-answer.ts'

/** Characters of two lines of a subtitle, as broadcasters set them; a longer sentence is shown in parts. */
const longestCue = 84
const longestLine = 42

const writers: Readonly<Record<string, (heard: HeardWords) => string>> = {
  '.json': writeJson,
  '.srt': writeSrt,
  '.vtt': writeVtt,
}

/** The content of a file of word times, by the ending of its name. Throws `usage` for another ending. */
export function timesWriter(path: string): (heard: HeardWords) => string {
  const writer = writers[extname(path).toLowerCase()]
  if (writer) return writer
  throw new AppError('usage', `Invalid file for --timestamps: ${path}`, {
    details: [`its name must end in ${Object.keys(writers).join(', ')}`],
  })
}

/** The words of each sentence; the marks of the words tell where one ends. */
function sentencesOf(words: readonly WordTime[]): readonly (readonly WordTime[])[] {
  const lengths = splitSentences(words.map(({ text }) => text).join(' ')).map((sentence) => bare(sentence).length)
  const sentences: WordTime[][] = []
  let current: WordTime[] = []
  let length = 0
  for (const word of words) {
    current.push(word)
    length += bare(word.text).length
    // A sentence may end within a word of a script without spaces.
    if (lengths.length > 0 && length >= lengths[0]!) {
      sentences.push(current)
      current = []
      while (lengths.length > 0 && length >= lengths[0]!) length -= lengths.shift()!
    }
  }
  if (current.length > 0) sentences.push(current)
  return sentences
}

function writeJson({ words, estimated }: HeardWords): string {
  const sentences = sentencesOf(words).map((sentence) => ({
    text: textOf(sentence),
    start: sentence[0]!.start,
    end: sentence.at(-1)!.end,
  }))
  return `${JSON.stringify({ estimated, words, sentences }, null, 1)}\n`
}

function writeSrt({ words }: HeardWords): string {
  return cuesOf(words)
    .map(({ start, end, text }, index) => `${index + 1}\n${clock(start, ',')} --> ${clock(end, ',')}\n${text}\n`)
    .join('\n')
}

function writeVtt({ words, estimated }: HeardWords): string {
  const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const cues = cuesOf(words).map(
    ({ start, end, text }) => `${clock(start, '.')} --> ${clock(end, '.')}\n${escaped(text)}\n`,
  )
  return ['WEBVTT\n', ...(estimated ? ['NOTE The times are estimated.\n'] : []), ...cues].join('\n')
}

interface Cue {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** A cue for each sentence, several for a long one; none ends after the next one begins, or is shorter than a millisecond. */
function cuesOf(words: readonly WordTime[]): readonly Cue[] {
  const groups = sentencesOf(words).flatMap(divideLong)
  return groups.map((group, index) => {
    const start = group[0]!.start
    const next = groups[index + 1]?.[0]?.start ?? Number.POSITIVE_INFINITY
    const end = Math.max(start + 0.001, Math.min(group.at(-1)!.end, next))
    return { start, end, text: linesOf(textOf(group)) }
  })
}

/** Cuts behind clauses where the parts stay within two lines, else between words. */
function divideLong(sentence: readonly WordTime[]): readonly (readonly WordTime[])[] {
  if (textOf(sentence).length <= longestCue || sentence.length < 2) return [sentence]
  const parts: WordTime[][] = []
  let part: WordTime[] = []
  for (const word of sentence) {
    const length = textOf([...part, word]).length
    const afterClause = /[,;:，、；：]["'”’»)]*$/.test(part.at(-1)?.text ?? '') && length > longestLine
    if (part.length > 0 && (length > longestCue || afterClause)) {
      parts.push(part)
      part = []
    }
    part.push(word)
  }
  return [...parts, part]
}

/** One line, or two of about the same length. An arrow would end a cue's text. */
function linesOf(text: string): string {
  const line = text.replaceAll('-->', '→').replace(/\s+/g, ' ')
  if (line.length <= longestLine) return line
  const gaps = [...line.matchAll(/ /g)].map(({ index }) => index)
  const at = gaps.toSorted((one, other) => Math.abs(one - line.length / 2) - Math.abs(other - line.length / 2))[0]
  return at === undefined ? line : `${line.slice(0, at)}\n${line.slice(at + 1)}`
}

const dense = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}，。、；：！？]$/u

/** Words of scripts without spaces stand side by side. */
function textOf(words: readonly WordTime[]): string {
  let text = ''
  for (const { text: word } of words) {
    const isClose = dense.test(text.slice(-1)) && dense.test(word.slice(0, 1))
    text += text === '' || isClose ? word : ` ${word}`
  }
  return text
}

function bare(text: string): string {
  return text.replace(/\s/g, '')
}

/** `01:02:03,004`. */
function clock(seconds: number, mark: ',' | '.'): string {
  const all = Math.round(seconds * 1000)
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  return `${two(all / 3_600_000)}:${two((all / 60_000) % 60)}:${two((all / 1000) % 60)}${mark}${String(all % 1000).padStart(3, '0')}`
}
