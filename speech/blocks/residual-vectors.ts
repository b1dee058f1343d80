/**
 * Residual vector quantisation (Zeghidour et al. 2021, arXiv:2107.03312): a frame is a code per codebook, and the sum of
 * their entries. Codecs keep the sums and counts of their training: an entry is their quotient.
 */

import type { Graph, Value } from '../../src/inference/inference.ts'

/** The tensors of one codebook: float32 [entries, size] and [entries]. */
export interface Codebook {
  readonly sums: string
  readonly counts: string
}

/** Entries that training never used have a count of about 0: this floor belongs to the model. */
const leastCount = 1e-5

/** The entries [entries, size] of a codebook. */
function codebookEntries(graph: Graph, { sums, counts }: Codebook): Value {
  const used = graph.node('Max', [graph.weight(counts), graph.scalar(leastCount)])
  return graph.node('Div', [graph.weight(sums), graph.node('Unsqueeze', [used, graph.integers(1)])])
}

/** The sum [frames, size] of the entries that the codes int64 [frames, books] name: column `first` belongs to the first of the books. */
export function sumOfEntries(graph: Graph, books: readonly Codebook[], codes: Value, first: number): Value {
  return books
    .map((book, index) => graph.node('Gather', [codebookEntries(graph, book), column(graph, codes, first + index)]))
    .reduce((sum, entry) => graph.add(sum, entry))
}

/**
 * Codes int64 [frames, books]: for each book, the entry nearest to the remainder of x [frames, size] after the earlier
 * books.
 */
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
