export type Recent<Value> = ReturnType<typeof createRecent<Value>>

/** Values by their keys, none yet. The least recently used go while there are more than `most`, or their sizes sum to more. */
export function createRecent<Value>(most: number, sizeOf: (value: Value) => number = () => 1) {
  const values = new Map<string, Value>()
  let size = 0
  return { get, set, clear }

  function get(key: string): Value | undefined {
    const value = values.get(key)
    if (value !== undefined) set(key, value)
    return value
  }

  function set(key: string, value: Value): void {
    remove(key)
    // A map keeps the order in which keys were entered.
    values.set(key, value)
    size += sizeOf(value)
    for (const oldest of values.keys()) {
      if (size <= most || values.size === 1) return
      remove(oldest)
    }
  }

  function remove(key: string): void {
    const value = values.get(key)
    if (value !== undefined) size -= sizeOf(value)
    values.delete(key)
  }

  function clear(): void {
    values.clear()
    size = 0
  }
}
