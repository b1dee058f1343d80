/** Decides the text that each step reads: a word when the model asks for one, and a look ahead in a second stream. */

/** A word, or a pause, of a text. */
export interface Entry {
  /** As it was written; empty for a pause. */
  readonly text: string
  readonly tokens: readonly number[]
  /** Steps of padding behind it, at least. */
  readonly padding: number
}

export interface WordSettings {
  /** The token that the model chooses to go on with the word it is at. */
  readonly pad: number
  /** Text tokens, the one at the start included: the two streams are one number in this base. */
  readonly card: number
  /** How many words ahead the second stream is; 0 without one. */
  readonly ahead: number
}

/** Steps of padding after which the next word comes without being asked for, and those at the start. */
const longestPadding = 8
export const initialPadding = 2

/** The model chooses this token when the next word may come. */
const newWord = 0

export interface HandedWord {
  readonly text: string
  readonly step: number
}

/** At the beginning of a text. */
export function createWordMachine(entries: readonly Entry[], { pad, card, ahead }: WordSettings) {
  const waiting = [...entries]
  const words: HandedWord[] = []
  const tokens: number[] = []
  const tokensAhead: number[] = []
  let remaining = initialPadding
  let forced = initialPadding
  let endStep: number | undefined
  let step = 0

  return {
    /** The step in which nothing was left to say. */
    get endStep() {
      return endStep
    },
    /** Words in the order in which they were handed out, pauses among them. */
    words: words as readonly HandedWord[],
    /** The model's text input instead of the token that it chose: both streams in one number. */
    next(chosen: number) {
      const begins = admitted(chosen) && takeNext()
      const [main, second] = begins ? beginning() : continuation()
      step += 1
      return (second + 1) * card + main
    },
  }

  /** Whether the next word may come now; where the model waits too long, it comes without being asked for. */
  function admitted(chosen: number): boolean {
    if (tokens.length > 0 || forced > 0) return false
    return chosen === newWord || remaining <= 0
  }

  /** Whether the mark of a word, or of the end, is in this step; a pause only forces padding. */
  function takeNext(): boolean {
    const entry = waiting.shift()
    if (!entry) {
      if (endStep !== undefined) return false
      endStep = step
      // Only the second stream marks the end.
      return ahead > 0
    }
    words.push({ text: entry.text, step })
    forced = entry.padding
    if (entry.tokens.length === 0) return false
    tokens.push(...entry.tokens)
    if (ahead > 0) tokensAhead.push(...(waiting.filter(({ tokens }) => tokens.length > 0)[ahead - 1]?.tokens ?? []))
    remaining = longestPadding
    return true
  }

  function beginning(): [main: number, second: number] {
    // The mark of a word goes to the second stream where there is one.
    return ahead > 0 ? [tokens.shift() ?? pad, newWord] : [newWord, -1]
  }

  function continuation(): [main: number, second: number] {
    remaining = Math.max(0, remaining - 1)
    forced = Math.max(0, forced - 1)
    return [tokens.shift() ?? pad, tokensAhead.shift() ?? -1]
  }
}
