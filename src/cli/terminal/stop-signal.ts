/** A signal made of others. */
export interface StopSignal {
  readonly signal: AbortSignal
  /** Forgets the others, when what the signal was for is done. */
  release(): void
}

/**
 * A signal that is aborted as soon as one of the others is, or after the time in milliseconds. Made by hand, because
 * AbortSignal.any forgets its parts when memory is collected (Node 20).
 */
export function firstOf(signals: readonly AbortSignal[], ms?: number): StopSignal {
  const controller = new AbortController()
  const timer = ms === undefined ? undefined : setTimeout(() => abort(), ms).unref()
  const links = signals.map((signal) => ({ signal, follow: () => abort(signal.reason) }))
  for (const { signal, follow } of links) signal.addEventListener('abort', follow, { once: true })
  const ended = signals.find(({ aborted }) => aborted)
  if (ended) abort(ended.reason)
  return { signal: controller.signal, release }

  function abort(reason?: unknown): void {
    release()
    controller.abort(reason)
  }

  function release(): void {
    clearTimeout(timer)
    for (const { signal, follow } of links) signal.removeEventListener('abort', follow)
  }
}
