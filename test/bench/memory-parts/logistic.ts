/** A feature vector, with 1 as its first component, and whether it is a positive example. */
export type Example = readonly [features: readonly number[], positive: boolean]

/**
 * Fits a logistic regression with an L2 penalty by Newton's method (iteratively reweighted least squares).
 * @param penalty on the square of every coefficient but the first
 */
export function fitLogistic(examples: readonly Example[], penalty = 0.3): number[] {
  const size = examples[0]![0].length
  const fitted = new Array<number>(size).fill(0)
  for (let round = 0; round < 30; round++) {
    const gradient = new Array<number>(size).fill(0)
    const curvature = Array.from({ length: size }, () => new Array<number>(size).fill(0))
    for (const [features, positive] of examples) {
      const odds = features.reduce((sum, value, at) => sum + value * fitted[at]!, 0)
      const chance = 1 / (1 + Math.exp(-odds))
      const rest = Number(positive) - chance
      const weight = chance * (1 - chance)
      features.forEach((value, row) => {
        gradient[row]! += rest * value
        features.forEach((other, column) => {
          curvature[row]![column]! += weight * value * other
        })
      })
    }
    for (let at = 0; at < size; at++) {
      if (at > 0) gradient[at]! -= penalty * fitted[at]!
      curvature[at]![at]! += at > 0 ? penalty : 1e-9
    }
    const step = solve(curvature, gradient)
    step.forEach((value, at) => {
      fitted[at]! += value
    })
    if (step.every((value) => Math.abs(value) < 1e-6)) break
  }
  return fitted
}

/** Solves a system of linear equations by Gauss and Jordan's elimination with pivots. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, at) => [...row, right[at]!])
  const size = rows.length
  for (let column = 0; column < size; column++) {
    let pivot = column
    for (let row = column + 1; row < size; row++)
      if (Math.abs(rows[row]![column]!) > Math.abs(rows[pivot]![column]!)) pivot = row
    ;[rows[column], rows[pivot]] = [rows[pivot]!, rows[column]!]
    for (let row = 0; row < size; row++) {
      if (row === column) continue
      const factor = rows[row]![column]! / rows[column]![column]!
      for (let at = column; at <= size; at++) rows[row]![at]! -= factor * rows[column]![at]!
    }
  }
  return rows.map((row, at) => row[size]! / row[at]!)
}
