/**
 * Residual vector quantisation (Zeghidour et al. 2021, arXiv:2107.03312): a frame is a code per codebook, and the sum of
 * their entries. Codecs keep the sums and counts of their training: an entry is their quotient.
 */

import {
  add,
  type Graph,
  integers,
  multiply,
  scalar,
  slice,
  transpose,
  type Value,
  type Weights,
} from '../../src/inference/inference.ts'

/** The tensors of one codebook: float32 [entries, size] and [entries]. */
export interface Codebook {
  readonly sums: string
  readonly counts: string
}

/** Entries that training never used have a count of about 0: this floor belongs to the model. */
const leastCount = 1e-5

/** The entries [entries, size] of a codebook. */
function codebookEntries(weights: Weights, { sums, counts }: Codebook): Value {
  const { graph } = weights
  const used = graph.node('Max', [weights.value(counts), scalar(graph, leastCount)])
  return graph.node('Div', [weights.value(sums), graph.node('Unsqueeze', [used, integers(graph, 1)])])
}

/** The sum [frames, size] of the entries that the codes int64 [frames, books] name: column `first` belongs to the first of the books. */
export function sumOfEntries(weights: Weights, books: readonly Codebook[], codes: Value, first: number): Value {
  const { graph } = weights
  return books
    .map((book, index) => graph.node('Gather', [codebookEntries(weights, book), column(graph, codes, first + index)]))
    .reduce((sum, entry) => add(graph, sum, entry))
}

/**
 * Codes int64 [frames, books]: for each book, the entry nearest to the remainder of x [frames, size] after the earlier
 * books.
 */
export function nearestCodes(weights: Weights, books: readonly Codebook[], x: Value): Value {
  const { graph } = weights
  let rest = x
  const codes = books.map((book) => {
    const entries = codebookEntries(weights, book)
    const code = nearest(graph, entries, rest)
    rest = graph.node('Sub', [rest, graph.node('Gather', [entries, code])])
    return graph.node('Unsqueeze', [code, integers(graph, 1)])
  })
  return graph.node('Concat', codes, { axis: { int: 1 } })
}

/** |e|² - 2 x·e is smallest where the distance |x - e| is. */
function nearest(graph: Graph, entries: Value, x: Value): Value {
  const squares = graph.node('ReduceSum', [multiply(graph, entries, entries), integers(graph, 1)], {
    keepdims: { int: 0 },
  })
  const products = graph.node('MatMul', [x, transpose(graph, entries, 1, 0)])
  const distances = graph.node('Sub', [squares, multiply(graph, products, scalar(graph, 2))])
  return graph.node('ArgMin', [distances], { axis: { int: 1 }, keepdims: { int: 0 } })
}

function column(graph: Graph, codes: Value, index: number): Value {
  return graph.node('Squeeze', [slice(graph, codes, 1, index, index + 1), integers(graph, 1)])
}
