/**
 * Residual vector quantisation (Zeghidour et al. 2021, arXiv:2107.03312): a frame is a code per codebook, and the sum of
 * their entries. Codecs keep the sums and counts of their training: an entry is their quotient.
 */

import type { Graph, Value } from '../../src/inference/inference.ts'
import { convolve } from './convolution.ts'

/** The tensors of one codebook: float32 [entries, size] and [entries]. */
export interface Codebook {
  readonly sums: string
  readonly counts: string
}

/** The codebooks of a codec, for code groups 0 and up: the first one apart, and a convolution of one sample for each of both halves. */
export interface CodecBooks {
  readonly first: readonly Codebook[]
  readonly rest: readonly Codebook[]
  /** Without `.weight`. */
  readonly projections: Readonly<Record<'first' | 'rest', string>>
}

/** Codebooks by the names that the authors of moshi gave them. */
const moshiNames = { layers: 'vq.layers', sums: '_codebook.embedding_sum', counts: '_codebook.cluster_usage' }

/** So many codebooks of two halves in these places, the first half with one. */
export function codecBooks(
  count: number,
  places: CodecBooks['projections'],
  projection: string,
  { layers, sums, counts } = moshiNames,
): CodecBooks {
  const book = (place: string, index: number): Codebook => ({
    sums: `${place}.${layers}.${index}.${sums}`,
    counts: `${place}.${layers}.${index}.${counts}`,
  })
  return {
    first: [book(places.first, 0)],
    rest: Array.from({ length: count - 1 }, (_, index) => book(places.rest, index)),
    projections: { first: `${places.first}.${projection}`, rest: `${places.rest}.${projection}` },
  }
}

/** Declares the input `codes` int64 [frames, books]. Returns the entries of both halves, projected and added: [frames, width]. */
export function latentsOfCodes(graph: Graph, { first, rest, projections }: CodecBooks): Value {
  const codes = graph.input('codes', 'int64', ['frames', first.length + rest.length])
  const semantic = convolve(graph, projections.first, sumOfEntries(graph, first, codes, 0))
  if (rest.length === 0) return semantic
  return graph.add(semantic, convolve(graph, projections.rest, sumOfEntries(graph, rest, codes, first.length)))
}

/** Entries that training never used have a count of about 0: this floor belongs to the model. */
const leastCount = 1e-5

/** The entries [entries, size] of a codebook. */
function codebookEntries(graph: Graph, { sums, counts }: Codebook): Value {
  const used = graph.node('Max', [graph.weight(counts), graph.scalar(leastCount)])
  return graph.node('Div', [graph.weight(sums), graph.node('Unsqueeze', [used, graph.integers(1)])])
}

/** The sum [frames, size] of the entries that the codes int64 [frames, books] name: column `first` belongs to the first of the books. */
function sumOfEntries(graph: Graph, books: readonly Codebook[], codes: Value, first: number): Value {
  return books
    .map((book, index) => graph.node('Gather', [codebookEntries(graph, book), column(graph, codes, first + index)]))
    .reduce((sum, entry) => graph.add(sum, entry))
}

/** Codes int64 [frames, books]: of each book the entry nearest to what earlier books leave of x [frames, size]. */
export function nearestCodes(graph: Graph, books: readonly Codebook[], x: Value): Value {
  let rest = x
  const codes = books.map((book) => {
    const entries = codebookEntries(graph, book)
    const code = nearest(graph, entries, rest)
    rest = graph.node('Sub', [rest, graph.node('Gather', [entries, code])])
    return graph.node('Unsqueeze', [code, graph.integers(1)])
  })
  return graph.node('Concat', codes, { axis: { int: 1 } })
}

/** |e|² - 2 x·e is smallest where the distance |x - e| is. */
function nearest(graph: Graph, entries: Value, x: Value): Value {
  const squares = graph.node('ReduceSum', [graph.multiply(entries, entries), graph.integers(1)], {
    keepdims: { int: 0 },
  })
  const products = graph.node('MatMul', [x, graph.transpose(entries, 1, 0)])
  const distances = graph.node('Sub', [squares, graph.multiply(products, graph.scalar(2))])
  return graph.node('ArgMin', [distances], { axis: { int: 1 }, keepdims: { int: 0 } })
}

function column(graph: Graph, codes: Value, index: number): Value {
  return graph.node('Squeeze', [graph.slice(codes, 1, index, index + 1), graph.integers(1)])
}
