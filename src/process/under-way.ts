/** Loads a part at its first use, for all callers at once; a failed load is tried again by the next call. */
export function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined
  return () => {
    loading ??= load().catch((reason) => {
      loading = undefined
      throw reason
    })
    return loading
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
