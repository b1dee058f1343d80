/** Makes a value at its first use: V8 takes milliseconds to parse a pattern of all languages. */
export function lazily<T extends object | string>(make: () => T): () => T {
  let value: T | undefined
  return () => {
    value ??= make()
    return value
  }
}
