/** The texts that were entered before, the oldest first. */
export interface History {
  /** Adds a text and keeps it, unless it is the same as the one before. */
  add(text: string): void
  /** The text before the one that is shown, which is kept as a draft where it is new; undefined where there is none. */
  earlier(shown: string): string | undefined
  /** The text after it, at last the draft. */
  later(): string | undefined
  /** The place and text of the nearest one before (or after) a place that contains the words; case counts where they have any. */
  find(words: string, from: number, step: -1 | 1): { readonly at: number; readonly text: string } | undefined
  readonly size: number
}

/** Texts that are held in memory. */
const mostHeld = 2_000

/** A history of texts; `keep` is called with each that is added. */
export function createHistory(before: readonly string[], keep: (text: string) => void): History {
  const texts = before.slice(-mostHeld)
  let at = texts.length
  let draft = ''
  return {
    add(text) {
      if (text !== '' && text !== texts.at(-1)) {
        texts.push(text)
        if (texts.length > mostHeld) texts.shift()
        keep(text)
      }
      at = texts.length
      draft = ''
    },
    earlier(shown) {
      if (at === 0) return undefined
      if (at === texts.length) draft = shown
      at -= 1
      return texts[at]
    },
    later() {
      if (at >= texts.length) return undefined
      at += 1
      return at === texts.length ? draft : texts[at]
    },
    find(words, from, step) {
      const asTyped = words !== words.toLowerCase()
      for (let place = from; place >= 0 && place < texts.length; place += step) {
        const text = texts[place]!
        if ((asTyped ? text : text.toLowerCase()).includes(words)) return { at: place, text }
      }
      return undefined
    },
    get size() {
      return texts.length
    },
  }
}
