/** A turn may be long: then the function is called again after so many uses of its value. */
const mostUses = 64

/**
 * The same function, called once in each turn of the event loop: for a value that costs a system call and is asked for by each of the
 * requests that are read together. One that was sent after a change is read in a later turn, and sees it.
 */
export function oncePerTurn<T>(read: () => T): () => T {
  let value: T
  let uses = 0
  const forget = () => {
    uses = 0
  }
  return () => {
    if (uses > 0 && uses < mostUses) {
      uses++
      return value
    }
    if (uses === 0) setImmediate(forget)
    value = read()
    uses = 1
    return value
  }
}
