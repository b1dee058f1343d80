/** The texts that were entered before, the oldest first. */
export interface History {
  /** Adds a text and keeps it, unless it is the same as the one before. */
  add(text: string): void
  /** The text before the one that is shown, which is kept as a draft where it is new; undefined where there is none. */
  earlier(shown: string): string | undefined
  /** The text after it, at last the draft. */
  later(): string | undefined
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
  }
}
