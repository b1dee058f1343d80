export type Deadline = ReturnType<typeof startDeadline>

/**
 * Starts the clock: the signal is aborted after `ms` milliseconds with a TimeoutError, or when the caller's own is. A timer and a listener in place of
 * AbortSignal.any and .timeout, which hold their parts weakly and keep no process alive.
 */
export function startDeadline(ms: number, signal?: AbortSignal) {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(new DOMException('The time is over', 'TimeoutError')), ms)
  const follow = () => controller.abort(signal?.reason)
  if (signal?.aborted) follow()
  signal?.addEventListener('abort', follow, { once: true })
  return {
    signal: controller.signal,
    /** Ends the watch; call it when the work is over. */
    clear() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', follow)
    },
  }
}
