/** A model that voices a word or two alone makes up a beginning or an end for them. */
const leastWords = 3
/** A word of a script without spaces, in signs. */
const signsPerWord = 2

/** Whether a piece has so few words that a model voices it badly alone. */
export function hasFewWords(text: string): boolean {
  const signs = text.match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/gu)?.length ?? 0
  const words = text.match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}'’.-]*/gu)?.length ?? 0
  return words < leastWords && signs < leastWords * signsPerWord
}

/**
 * Joins each piece of fewer than three words to the one before, or the first to the one behind it. Where they are too long
 * for one piece, `divide` cuts them anew so that neither has few words; without it, or without such a cut, they stay apart.
 */
export function joinFewWords(
  pieces: readonly string[],
  fits: (joined: string) => boolean,
  divide: (joined: string) => readonly [string, string] | undefined = () => undefined,
): string[] {
  const joined: string[] = []
  for (const piece of pieces) {
    const before = joined.at(-1)
    if (before === undefined || !(hasFewWords(piece) || hasFewWords(before))) {
      joined.push(piece)
      continue
    }
    // A heading without a mark stays a line of its own.
    const both = `${before}${/[\p{L}\p{N}]$/u.test(before) ? '\n' : ' '}${piece}`
    joined.splice(-1, 1, ...(fits(both) ? [both] : (divide(both) ?? [before, piece])))
  }
  return joined
}
