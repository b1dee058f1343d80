/**
 * Names of models and patterns of them: `*` stands for any text, `#` for a digit. Both are compared in small letters. A test
 * takes at most the product of both lengths, since a caller chooses the name.
 */

/** The longest name that is looked at: characters. */
export const longestName = 200

/** A name or pattern of models: the letters of a model's name, and wildcards. */
export const patternRule = /^[\w.:/@+~*#-]{1,200}$/

/** Whether a name holds a wildcard. */
export function isPattern(text: string): boolean {
  return /[*#]/.test(text)
}

/** A compiled pattern. The weight is the number of its letters: of two that match, the heavier one is more specific. */
export type Pattern = ReturnType<typeof patternOf>

/** Compiles a pattern. `matches` takes a name in small letters. */
export function patternOf(text: string) {
  const pieces = text.toLowerCase().split('*')
  const [first = '', ...rest] = pieces
  const last = rest.pop()
  const needed = pieces.reduce((sum, { length }) => sum + length, 0)
  return {
    weight: needed,
    matches(name: string): boolean {
      if (name.length < needed || !isAt(name, 0, first)) return false
      if (last === undefined) return name.length === first.length
      const end = name.length - last.length
      if (!isAt(name, end, last)) return false
      let from = first.length
      // The earliest place of each piece leaves the most room for the next: no way back is needed.
      for (const piece of rest) {
        while (from + piece.length <= end && !isAt(name, from, piece)) from++
        if (from + piece.length > end) return false
        from += piece.length
      }
      return from <= end
    },
  }
}

function isAt(name: string, at: number, piece: string): boolean {
  for (let index = 0; index < piece.length; index++) {
    const letter = name.charCodeAt(at + index)
    const wanted = piece.charCodeAt(index)
    const isSame = wanted === hash ? letter >= 48 && letter <= 57 : letter === wanted
    if (!isSame) return false
  }
  return true
}

const hash = '#'.charCodeAt(0)

/** The name with `-2026-01-31` for `-20260131`, as one provider writes another's versions; undefined without a date. */
export function withDashedDates(name: string): string | undefined {
  const dashed = name.replace(/-(20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)/g, '-$1-$2-$3')
  return dashed === name ? undefined : dashed
}
