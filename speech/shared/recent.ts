/** Values by their keys, of which only the ones that were used last are kept. */
export interface Recent<Value> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  clear(): void
}

/** Nothing yet; the least recently used of more than `most` values goes. */
export function createRecent<Value>(most: number): Recent<Value> {
  const values = new Map<string, Value>()
  const recent: Recent<Value> = {
    get(key) {
      const value = values.get(key)
      if (value !== undefined) recent.set(key, value)
      return value
    },
    set(key, value) {
      // A map keeps the order in which keys were entered.
      values.delete(key)
      values.set(key, value)
      const [oldest] = values.keys()
      if (values.size > most) values.delete(oldest!)
    },
    clear: () => values.clear(),
  }
  return recent
}
