/** Where an answer or a chunk keeps the text that it was read from, with itself: a changed copy takes the entry along, but is not it. */
const source = Symbol('source')

interface Sourced {
  [source]?: { readonly of: unknown; readonly text: string }
}

/** The text that an unchanged answer or chunk was read from, to be sent on as it is; undefined for every other one. */
export function sourceOf(read: object): string | undefined {
  const kept = (read as Sourced)[source]
  return kept?.of === read ? kept.text : undefined
}

/** A property of its own, because an entry in a WeakMap for each chunk took a fifth of the time of reading a stream. */
export function keepSource<T extends object>(read: T, text: string): T {
  ;(read as Sourced)[source] = { of: read, text }
  return read
}
