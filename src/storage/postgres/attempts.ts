/** Milliseconds until the first new attempt to connect after one that failed, and at most. */
const firstWait = 50
const longestWait = 1000

/**
 * Bounds the attempts to connect of one process to a database that is away: after one that failed, none is made for 50
 * ms, then 100 ms, up to a second, each shortened by up to a half at random; requests meanwhile fail at once.
 */
export function createConnectAttempts(now: () => number = () => performance.now()) {
  let wait = 0
  let until = 0
  let last: unknown
  return {
    /** Throws the last failure while no attempt may be made. */
    allow() {
      if (now() < until) throw last
    },
    succeeded() {
      wait = 0
      until = 0
    },
    failed(reason: unknown) {
      last = reason
      // Several that were under way together count as one.
      if (now() < until) return
      wait = Math.min(longestWait, wait === 0 ? firstWait : wait * 2)
      until = now() + wait * (1 - Math.random() / 2)
    },
  }
}
