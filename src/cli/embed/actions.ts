import { AppError } from '../../errors.ts'
import { textOfBytes } from '../../formats/text-bytes.ts'
import type { Cli } from '../terminal/cli.ts'
import { readInput } from '../terminal/files.ts'
import { print } from '../terminal/output.ts'
import { noText, readStdin } from '../terminal/stdin.ts'
import { table } from '../terminal/table.ts'
import { cosineOf, type Embedded, vectorsOf } from './vectors.ts'

interface EmbedOptions {
  readonly model?: string
  readonly file?: readonly string[]
  readonly lines?: boolean
  readonly similar?: string
  readonly limit: number
}

/** Texts of one command: the built-in model takes a minute for as many. */
const mostTexts = 200_000

/** Digits of a number: nine are enough to read the same 32 bits again. */
const digits = 9

/** Digits behind the point of a score. */
const scoreDigits = 4

/** Prints the vectors of texts, or the lines of a file that are nearest to a text. */
export async function embed(cli: Cli, words: readonly string[], options: EmbedOptions): Promise<void> {
  if (options.similar !== undefined) return rank(cli, words, { ...options, similar: options.similar })
  const texts = await textsOf(cli, words, options)
  const all: { readonly text: string; readonly embedding: readonly number[] }[] = []
  let model = ''
  for await (const embedded of vectorsOf(cli, texts, options.model)) {
    model = embedded.model
    const embedding = numbersOf(embedded)
    if (cli.globals().json) all.push({ text: embedded.text, embedding })
    else await cli.io.out(`${JSON.stringify(embedding)}\n`)
  }
  if (cli.globals().json)
    await print(cli, { model, dimensions: all[0]?.embedding.length ?? 0, embeddings: all }, () => '')
}

function numbersOf({ vector }: Embedded): readonly number[] {
  return Array.from(vector, (value) => Number(value.toPrecision(digits)))
}

/** The arguments, a text each, and the files or stdin: whole, or by their lines. */
async function textsOf(
  cli: Cli,
  words: readonly string[],
  { file = [], lines }: EmbedOptions,
): Promise<readonly string[]> {
  const sources = words.length === 0 && file.length === 0 && cli.io.stdinIsPiped() ? ['-'] : file
  const named = [...words, ...sources].filter((word) => word === '-').length
  if (named > 1) throw new AppError('usage', 'Standard input can be read only once: use - in one place')
  const texts: string[] = []
  const add = (text: string) => {
    for (const part of lines ? linesOf(text) : [text.trim()]) texts.push(part)
  }
  for (const word of words) {
    if (word === '-') add(await textIn(cli, '-'))
    else texts.push(word.trim())
  }
  for (const path of sources) add(await textIn(cli, path))
  return checked(texts.filter((text) => text !== ''))
}

interface RankOptions extends EmbedOptions {
  readonly similar: string
}

async function rank(
  cli: Cli,
  words: readonly string[],
  { model, file, lines, similar, limit }: RankOptions,
): Promise<void> {
  if (file !== undefined || lines)
    throw new AppError('usage', '--similar ranks the lines of one file: leave out -f and --lines')
  const isPiped = words.length === 0 && similar !== '-' && cli.io.stdinIsPiped()
  if (words.join(' ') === '-' && similar === '-')
    throw new AppError('usage', 'Standard input can be read only once: use - in one place')
  const isStdin = isPiped || words.join(' ') === '-'
  const text = (isStdin ? await textIn(cli, '-') : words.join(' ')).trim()
  if (text === '') throw new AppError('usage', 'Nothing to compare with: give a text, or pipe one in')
  const rows = numberedLines(await textIn(cli, similar))
  checked(rows.map((row) => row.text))
  const vectors = vectorsOf(cli, [text, ...rows.map((row) => row.text)], model)
  const ranked: { readonly score: number; readonly line: number; readonly text: string }[] = []
  let wanted: Embedded | undefined
  let at = 0
  for await (const embedded of vectors) {
    if (wanted) ranked.push({ score: cosineOf(wanted.vector, embedded.vector), ...rows[at++]! })
    else wanted = embedded
  }
  ranked.sort((a, b) => b.score - a.score || a.line - b.line)
  const shown = ranked.slice(0, limit).map((row) => ({ ...row, score: Number(row.score.toFixed(scoreDigits)) }))
  await print(cli, { model: wanted?.model ?? '', results: shown }, ({ results }) =>
    table(cli, results, [
      ['SCORE', (row) => row.score.toFixed(scoreDigits)],
      ['LINE', (row) => String(row.line)],
      ['TEXT', (row) => row.text],
    ]),
  )
}

async function textIn(cli: Cli, path: string): Promise<string> {
  const bytes = path === '-' ? await readStdin(cli) : await readInput(cli, path)
  const text = textOfBytes(bytes)
  if (text === undefined) throw noText(path === '-' ? 'Standard input' : path)
  return text
}

function linesOf(text: string): readonly string[] {
  return text.split(/\r?\n/).map((line) => line.trim())
}

/** The lines that hold something, with their numbers from 1. */
function numberedLines(text: string): readonly { readonly line: number; readonly text: string }[] {
  return linesOf(text).flatMap((line, index) => (line === '' ? [] : [{ line: index + 1, text: line }]))
}

function checked(texts: readonly string[]): readonly string[] {
  if (texts.length === 0)
    throw new AppError('usage', 'Nothing to embed: give a text, pipe one in, or name a file with -f')
  if (texts.length > mostTexts)
    throw new AppError('too_large', `There are ${texts.length} texts, and at most ${mostTexts} are embedded at a time`)
  return texts
}
