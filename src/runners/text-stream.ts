/** The replacement character of incomplete UTF-8; after `mostHeld` tokens it is taken as the text. */
const unfinished = '\ufffd'
const mostHeld = 8

/** Holds back incomplete characters, and text that may begin a stop text, which is no part of the answer. */
export function createTextStream(decode: (ids: readonly number[]) => string, stops: readonly string[]) {
  const ids: number[] = []
  // Tokens are decoded behind a few earlier ones, since a tokenizer may treat the first of a text specially.
  let before = 0
  let read = 0
  let held = ''
  return {
    /** The text that a token completes, often none. `stopped` after a stop text: later tokens are ignored. */
    push(id: number): { readonly text: string; readonly stopped: boolean } {
      ids.push(id)
      const context = decode(ids.slice(before, read))
      const all = decode(ids.slice(before))
      const waits = all.endsWith(unfinished) && ids.length - read < mostHeld
      if (all.length <= context.length || waits) return { text: '', stopped: false }
      before = read
      read = ids.length
      return release(all.slice(context.length))
    },
    /** Flushes the text that is held back. */
    end(): string {
      const rest = decode(ids.slice(before)).slice(decode(ids.slice(before, read)).length)
      const { text, stopped } = release(rest)
      return stopped ? text : text + held
    },
  }

  function release(fresh: string): { text: string; stopped: boolean } {
    held += fresh
    const at = Math.min(...stops.map((stop) => indexOf(held, stop)))
    if (at < Number.POSITIVE_INFINITY) {
      const text = held.slice(0, at)
      held = ''
      return { text, stopped: true }
    }
    const keep = Math.max(0, ...stops.map((stop) => beginningAtEnd(held, stop)))
    const text = held.slice(0, held.length - keep)
    held = held.slice(held.length - keep)
    return { text, stopped: false }
  }
}

function indexOf(text: string, part: string): number {
  const at = text.indexOf(part)
  return at < 0 ? Number.POSITIVE_INFINITY : at
}

/** Length of the longest suffix of the text that is a prefix of `part`. */
function beginningAtEnd(text: string, part: string): number {
  for (let length = Math.min(part.length - 1, text.length); length > 0; length--)
    if (text.endsWith(part.slice(0, length))) return length
  return 0
}
