/** `.930 (.89–.97)`: the area under the ROC curve, with the 95 % interval of Hanley and McNeil (Radiology 143(1), 1982). */
export function areaUnder(positive: readonly number[], negative: readonly number[]): string {
  const area = areaOf(positive, negative)
  const [m, n] = [positive.length, negative.length]
  const [q1, q2] = [area / (2 - area), (2 * area ** 2) / (1 + area)]
  const error = Math.sqrt((area * (1 - area) + (m - 1) * (q1 - area ** 2) + (n - 1) * (q2 - area ** 2)) / (m * n))
  return `${area.toFixed(3)} (${(area - 1.96 * error).toFixed(2)}–${Math.min(1, area + 1.96 * error).toFixed(2)})`
}

/** The share of pairs in which the positive one has the higher score; a tie is half of one. */
export function areaOf(positive: readonly number[], negative: readonly number[]): number {
  let sum = 0
  for (const a of positive) for (const b of negative) sum += a > b ? 1 : a === b ? 0.5 : 0
  return sum / (positive.length * negative.length)
}
