/** The most letters that a suggestion may differ in; a short name may differ in a third of its letters. */
const mostDifferences = 3

/** A name of three letters or more suggests those that it begins. */
const shortestBeginning = 3

/** The known name that a misspelt one most likely means; undefined where none is near. Case does not count. */
export function nearestName(wrong: string, names: Iterable<string>): string | undefined {
  const word = wrong.toLowerCase()
  const most = Math.min(mostDifferences, Math.floor(word.length / 3))
  let best: { readonly name: string; readonly differences: number } | undefined
  for (const name of names) {
    const other = name.toLowerCase()
    const begins = word.length >= shortestBeginning && other.startsWith(word)
    if (!begins && Math.abs(other.length - word.length) > most) continue
    const differences = begins ? 0.5 : differencesOf(word, other)
    if ((begins || differences <= most) && differences < (best?.differences ?? Number.POSITIVE_INFINITY))
      best = { name, differences }
  }
  return best?.name
}

/** `; did you mean openai?`, or nothing where no name is near. */
export function suggestion(wrong: string, names: Iterable<string>): string {
  const name = nearestName(wrong, names)
  return name === undefined ? '' : `; did you mean ${name}?`
}

/** Letters inserted, left out, replaced or swapped: the optimal string alignment distance (Damerau 1964). */
function differencesOf(a: string, b: string): number {
  let [beforeLast, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, at) => at)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let least = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, beforeLast[j - 2]! + 1)
      row.push(least)
    }
    ;[beforeLast, last] = [last, row]
  }
  return last[b.length]!
}
