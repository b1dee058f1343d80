/** Loads a part at its first use; a failed load is tried again. */
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
