/** A sparse matrix by rows: the columns and values of row r stand from `starts[r]` to `starts[r + 1]`. */
export interface SparseMatrix {
  readonly rows: number
  readonly columns: number
  readonly starts: Uint32Array
  readonly indices: Uint32Array
  readonly values: Float32Array
}

/**
 * The rows of a sparse matrix as short dense vectors: projected onto its dominant right subspace, which randomised
 * subspace iteration finds (Halko, Martinsson and Tropp, "Finding structure with randomness", 2011). Cosines between
 * projected rows do not depend on the basis, so the singular vectors themselves are never needed.
 * @param learnFrom the subspace is found from the first rows only; all are projected
 * @param dimension an even number
 * @returns rows × dimension, row by row
 */
export function project(
  matrix: SparseMatrix,
  dimension: number,
  iterations: number,
  learnFrom: number,
  random: () => number,
): Float32Array {
  const part = { ...matrix, rows: Math.min(learnFrom, matrix.rows) }
  let left = gaussian(part.rows * dimension, random)
  let right = multiplyTransposed(part, left, dimension)
  for (let round = 0; round < iterations; round++) {
    left = multiply(part, right, dimension)
    normaliseColumns(left, dimension)
    right = multiplyTransposed(part, left, dimension)
    normaliseColumns(right, dimension)
  }
  const projected = multiply(matrix, right, dimension)
  solveRows(projected, cholesky(gram(right, dimension), dimension), dimension)
  return projected
}

function multiply(matrix: SparseMatrix, dense: Float32Array, width: number): Float32Array {
  const result = new Float32Array(matrix.rows * width)
  for (let row = 0; row < matrix.rows; row++) {
    const target = row * width
    for (let at = matrix.starts[row]!; at < matrix.starts[row + 1]!; at++)
      addScaled(result, target, dense, matrix.indices[at]! * width, matrix.values[at]!, width)
  }
  return result
}

function multiplyTransposed(matrix: SparseMatrix, dense: Float32Array, width: number): Float32Array {
  const result = new Float32Array(matrix.columns * width)
  for (let row = 0; row < matrix.rows; row++) {
    const source = row * width
    for (let at = matrix.starts[row]!; at < matrix.starts[row + 1]!; at++)
      addScaled(result, matrix.indices[at]! * width, dense, source, matrix.values[at]!, width)
  }
  return result
}

function addScaled(
  target: Float32Array,
  to: number,
  source: Float32Array,
  from: number,
  scale: number,
  width: number,
): void {
  for (let at = 0; at < width; at++) target[to + at]! += scale * source[from + at]!
}

/** Keeps the numbers in range between rounds. */
function normaliseColumns(dense: Float32Array, width: number): void {
  const sums = new Float64Array(width)
  for (let at = 0; at < dense.length; at += width)
    for (let column = 0; column < width; column++) sums[column]! += dense[at + column]! ** 2
  const scales = sums.map((sum) => 1 / Math.sqrt(sum || 1))
  for (let at = 0; at < dense.length; at += width)
    for (let column = 0; column < width; column++) dense[at + column]! *= scales[column]!
}

/** The lower triangle of denseᵀ·dense (and some of the upper): two columns against four rows at a time, to save loads. */
function gram(dense: Float32Array, width: number): Float64Array {
  const result = new Float64Array(width * width)
  const rows = dense.length / width
  // Rows that are not there, where their number is no multiple of four, are read as zeros.
  const four = new Float64Array(4 * width)
  for (let row = 0; row < rows; row += 4) {
    four.fill(0)
    four.set(dense.subarray(row * width, (row + 4) * width))
    for (let i = 0; i < width; i += 2) {
      const [a0, b0, c0, d0] = [four[i]!, four[width + i]!, four[2 * width + i]!, four[3 * width + i]!]
      const [a1, b1, c1, d1] = [four[i + 1]!, four[width + i + 1]!, four[2 * width + i + 1]!, four[3 * width + i + 1]!]
      const line = i * width
      for (let j = 0; j <= i + 1; j++) {
        const [a, b, c, d] = [four[j]!, four[width + j]!, four[2 * width + j]!, four[3 * width + j]!]
        result[line + j]! += a0 * a + b0 * b + c0 * c + d0 * d
        result[line + width + j]! += a1 * a + b1 * b + c1 * c + d1 * d
      }
    }
  }
  return result
}

/** Cholesky: L with L·Lᵀ = the matrix, given by its lower triangle; in place. */
function cholesky(matrix: Float64Array, width: number): Float64Array {
  for (let j = 0; j < width; j++) {
    for (let i = j; i < width; i++) {
      let sum = matrix[i * width + j]!
      for (let k = 0; k < j; k++) sum -= matrix[i * width + k]! * matrix[j * width + k]!
      matrix[i * width + j] = i === j ? Math.sqrt(Math.max(sum, 1e-12)) : sum / matrix[j * width + j]!
    }
  }
  return matrix
}

/** Replaces each row x by the y with L·y = x, which is the same projection in an orthonormal basis. Four rows at a time. */
function solveRows(dense: Float32Array, lower: Float64Array, width: number): void {
  const four = new Float64Array(4 * width)
  for (let start = 0; start < dense.length; start += 4 * width) {
    const rows = dense.subarray(start, start + 4 * width)
    four.fill(0)
    four.set(rows)
    for (let i = 0; i < width; i++) {
      const line = i * width
      let [a, b, c, d] = [four[i]!, four[width + i]!, four[2 * width + i]!, four[3 * width + i]!]
      for (let j = 0; j < i; j++) {
        const factor = lower[line + j]!
        a -= factor * four[j]!
        b -= factor * four[width + j]!
        c -= factor * four[2 * width + j]!
        d -= factor * four[3 * width + j]!
      }
      const scale = 1 / lower[line + i]!
      four[i] = a * scale
      four[width + i] = b * scale
      four[2 * width + i] = c * scale
      four[3 * width + i] = d * scale
    }
    rows.set(four.subarray(0, rows.length))
  }
}

/** Box and Muller's normal deviates. */
function gaussian(count: number, random: () => number): Float32Array {
  const values = new Float32Array(count)
  for (let at = 0; at < count; at += 2) {
    const radius = Math.sqrt(-2 * Math.log(1 - random()))
    const angle = 2 * Math.PI * random()
    values[at] = radius * Math.cos(angle)
    if (at + 1 < count) values[at + 1] = radius * Math.sin(angle)
  }
  return values
}
