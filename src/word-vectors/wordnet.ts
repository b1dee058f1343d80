import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A set of words with one meaning, as WordNet keeps it. */
export type Synset = ReturnType<typeof parseLine>

const files = { n: 'data.noun', v: 'data.verb', a: 'data.adj', r: 'data.adv' } as const

/** All synsets of a WordNet database folder (format: https://wordnet.princeton.edu/documentation/wndb5wn). */
export function readSynsets(folder: string): readonly Synset[] {
  return Object.entries(files).flatMap(([part, file]) =>
    readFileSync(join(folder, file), 'latin1')
      .split('\n')
      // The licence stands at the top, each line of it indented.
      .filter((line) => line !== '' && !line.startsWith(' '))
      .map((line) => parseLine(part, line)),
  )
}

/** WordNet's licence, from the head of its files; data made from them must include it. */
export function readLicence(folder: string): string {
  const lines = readFileSync(join(folder, files.n), 'latin1').split('\n')
  const end = lines.findIndex((line) => !line.startsWith(' '))
  // Each line: blanks, its number, a blank, its text.
  return `${lines
    .slice(0, end)
    .map((line) => line.replace(/^ +\d+ ?/, '').trimEnd())
    .join('\n')
    .trim()}\n`
}

/** `offset lexfile type wordcount (word lexid)… linkcount (symbol offset part numbers)… [frames] | gloss` */
function parseLine(part: string, line: string) {
  const bar = line.indexOf(' | ')
  const fields = line.slice(0, bar).split(' ')
  const wordCount = Number.parseInt(fields[3]!, 16)
  /** Lower case; parts of a compound are joined by `_`. */
  const words = Array.from({ length: wordCount }, (_, at) =>
    fields[4 + 2 * at]!.replace(/\([^()]*\)$/, '').toLowerCase(),
  )
  const start = 4 + 2 * wordCount
  const links = Array.from({ length: Number(fields[start]) }, (_, at) => {
    const [relation, offset, target] = fields.slice(start + 1 + 4 * at)
    return { relation: relation!, target: `${target}${offset}` }
  })
  const gloss = line.slice(bar + 3).trim()
  const quote = gloss.indexOf('; "')
  return {
    /** Part of speech and offset, such as `n02124272`: unique. */
    key: `${part}${fields[0]}`,
    words,
    definition: quote < 0 ? gloss : gloss.slice(0, quote),
    examples: quote < 0 ? '' : gloss.slice(quote),
    links,
  }
}
