/** Aborts with the first signal or after milliseconds. Not AbortSignal.any: Node 20 may collect its parts. */
export function firstOf(signals: readonly AbortSignal[], ms?: number) {
  const controller = new AbortController()
  const timer = ms === undefined ? undefined : setTimeout(() => abort(), ms).unref()
  const links = signals.map((signal) => ({ signal, follow: () => abort(signal.reason) }))
  for (const { signal, follow } of links) signal.addEventListener('abort', follow, { once: true })
  const ended = signals.find(({ aborted }) => aborted)
  if (ended) abort(ended.reason)
  return { signal: controller.signal, release }

  function abort(reason?: unknown): void {
    /** Removes the listeners and the timer. */
    release()
    controller.abort(reason)
  }

  function release(): void {
    clearTimeout(timer)
    for (const { signal, follow } of links) signal.removeEventListener('abort', follow)
  }
}
