/** Prepares text for pocket-tts as a whole and cuts it into chunks of a few sentences, each spoken from the voice's start. */
import { joinFewWords } from '../../text/few-words.ts'
import { divide } from '../../text/sentences.ts'
import type { Tokenizer } from '../neural/sentence-pieces.ts'
import type { PocketConfiguration, Sampling } from './configuration.ts'

/** A piece of text that is spoken in one go. */
export type TextChunk = ReturnType<typeof chunkOf>

type TextSettings = Pick<PocketConfiguration, 'text' | 'sampling'>

/** Prepares a text that is not only white space and cuts it as its authors' program does; a sentence without clause marks stays whole. */
export function cutText(text: string, tokenizer: Tokenizer, settings: TextSettings, frameRate: number): TextChunk[] {
  return piecesOf(text, tokenizer, settings).map((piece) => chunkOf(piece, tokenizer, settings, frameRate))
}

/** The same, but no chunk has fewer than three words where it can share a neighbour's: the model voices a last word alone badly. */
export function chunkText(text: string, tokenizer: Tokenizer, settings: TextSettings, frameRate: number): TextChunk[] {
  const fits = (piece: string) => tokenizer.encode(piece).length <= settings.sampling.tokensPerChunk
  const pieces = joinFewWords(piecesOf(text, tokenizer, settings), fits, (joined) => divide(joined, fits))
  return pieces.map((piece) => chunkOf(piece, tokenizer, settings, frameRate))
}

function piecesOf(text: string, tokenizer: Tokenizer, { text: rules, sampling }: TextSettings): string[] {
  const plain = [...text].map((mark) => rules.replaced[mark] ?? mark).join('')
  return packSentences(prepareText(plain, rules.removeSemicolons), tokenizer, sampling.tokensPerChunk)
}

function chunkOf(piece: string, tokenizer: Tokenizer, { text: rules, sampling }: TextSettings, frameRate: number) {
  // A joined heading keeps its line in other engines; this one reads lines as spaces.
  const text = piece.replaceAll('\n', ' ')
  const ids = tokenizer.encode(text)
  /** Frames still spoken after the one with the logit of the end. */
  const framesAfterEnd = rules.framesAfterEnd ?? framesAfterEndOf(text)
  return {
    text,
    ids,
    framesAfterEnd,
    /** Speech is cut after so many frames when its end is never found. */
    frameLimit: frameLimitOf(ids.length, sampling, frameRate),
  }
}

/** One line that begins with a capital letter and ends with a mark; every pair of spaces becomes one. */
export function prepareText(text: string, removeSemicolons: boolean): string {
  const spaced = trim(text)
    .replace(/[\r\n]/g, ' ')
    .replaceAll('  ', ' ')
  const line = removeSemicolons ? spaced.replaceAll(';', ',') : spaced
  const [first = '', ...rest] = line
  const capital = first.toUpperCase() + rest.join('')
  return /[\p{L}\p{N}]$/u.test(capital) ? `${capital}.` : capital
}

/** White space as the reference implementation's language understands it. */
const space = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/

function trim(text: string): string {
  return text.replace(new RegExp(`^${space.source}`), '').replace(new RegExp(`${space.source}$`), '')
}

/** Short texts get a longer tail, since their last sound is a larger part of them. */
function framesAfterEndOf(chunk: string): number {
  const words = chunk.split(space).filter((word) => word !== '').length
  return (words <= 4 ? 3 : 1) + 2
}

function frameLimitOf(ids: number, { tokensPerSecond, paddingSeconds }: Sampling, frameRate: number): number {
  return Math.ceil((ids / tokensPerSecond + paddingSeconds) * frameRate)
}

interface Segment {
  readonly text: string
  readonly size: number
}

/** Sentences, packed together while their ids stay within the limit; a larger one is cut at commas too. */
function packSentences(text: string, tokenizer: Tokenizer, limit: number): string[] {
  const segments = cutAfter('.!...?', text, tokenizer).flatMap((sentence) => {
    if (sentence.size <= limit) return [sentence]
    const clauses = cutAfter(',;:', sentence.text, tokenizer)
    return clauses.length > 1 ? clauses : [sentence]
  })
  const chunks: Segment[] = []
  for (const segment of segments) {
    const last = chunks.at(-1)
    if (last && last.size + segment.size <= limit)
      chunks[chunks.length - 1] = { text: `${last.text} ${segment.text}`, size: last.size + segment.size }
    else chunks.push(segment)
  }
  return chunks.map((chunk) => trim(chunk.text)).filter((chunk) => chunk !== '')
}

/** Cuts after every run of the ids of `marks`. The first of those ids is the space that the tokenizer puts in front. */
function cutAfter(marks: string, text: string, tokenizer: Tokenizer): Segment[] {
  const ends = new Set(tokenizer.encode(marks).slice(1))
  const ids = tokenizer.encode(trim(text))
  const segments: Segment[] = []
  let start = 0
  for (let index = 1; index <= ids.length; index++) {
    const isEnd = index === ids.length || (ends.has(ids[index - 1]!) && !ends.has(ids[index]!))
    if (!isEnd) continue
    segments.push({ text: tokenizer.decode(ids.slice(start, index)), size: index - start })
    start = index
  }
  return segments
}
