export type Recent<Value> = ReturnType<typeof createRecent<Value>>

/** Values by their keys, none yet; the least recently used of more than `most` goes. */
export function createRecent<Value>(most: number) {
  const values = new Map<string, Value>()
  return { get, set, clear: () => values.clear() }

  function get(key: string): Value | undefined {
    const value = values.get(key)
    if (value !== undefined) set(key, value)
    return value
  }

  function set(key: string, value: Value): void {
    // A map keeps the order in which keys were entered.
    values.delete(key)
    values.set(key, value)
    const [oldest] = values.keys()
    if (values.size > most) values.delete(oldest!)
  }
}
