/**
 * Makes a value at its first use, for all callers: a part that is loaded, a pattern that takes milliseconds. A promise that is
 * rejected is forgotten, so that the next call tries again.
 */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    if (made) return made.value
    const value = make()
    made = { value }
    if (value instanceof Promise)
      value.catch(() => {
        made = undefined
      })
    return value
  }
}

/** Does a piece of work for all callers that come while it is under way; the next one starts it again. */
export function whileUnderWay<T>(work: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | undefined
  return () => {
    underWay ??= work().finally(() => {
      underWay = undefined
    })
    return underWay
  }
}
