/** A signal that is aborted when time is up or when the caller's own signal is. */
export interface Deadline {
  readonly signal: AbortSignal
  /** Ends the watch; call it when the work is over. */
  clear(): void
}

/**
 * Starts the clock: after `ms` milliseconds the signal is aborted with a TimeoutError. A timer and a listener in place of
 * AbortSignal.any and .timeout, which hold their parts weakly and keep no process alive.
 */
export function startDeadline(ms: number, signal?: AbortSignal): Deadline {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new DOMException('The time is over', 'TimeoutError')), ms)
  const follow = () => controller.abort(signal?.reason)
  if (signal?.aborted) follow()
  signal?.addEventListener('abort', follow, { once: true })
  return {
    signal: controller.signal,
    clear() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', follow)
    },
  }
}
