import type { App } from '../app/app.ts'
import { toAppError } from '../errors.ts'
import type { Log } from './log.ts'

/** The longest sleep between two looks at the clock: milliseconds. A clock that is set, or a machine that slept, is noticed then. */
const longestSleep = 15 * 60_000

/** How soon a backup that failed is tried again, at the latest: milliseconds. */
const retryMs = 30 * 60_000

/** The first look after the start: milliseconds. A daemon that is started over and over is not made slower by it. */
const firstMs = 10_000

export interface Schedule {
  /** Ends the backup that is being made; it leaves nothing. */
  close(): Promise<void>
}

/**
 * Backs up everything every so many seconds of the settings, counted from the newest scheduled backup, and removes those
 * beyond the number that is kept. Undefined where the settings ask for none.
 */
export function scheduleBackups(app: App, log: Pick<Log, 'info' | 'error'>, soonMs = firstMs): Schedule | undefined {
  const { every, keep } = app.settings.backup
  if (every === undefined) return undefined
  const stopping = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  const everyMs = every * 1000
  const sleep = (ms: number) => {
    if (stopping.signal.aborted) return
    timer = setTimeout(() => {
      running = look()
    }, ms).unref()
  }

  async function look(): Promise<void> {
    try {
      const backups = await app.backups()
      const newest = (await backups.list()).find(({ scheduled }) => scheduled)
      // Also where the newest seems to come from the future: the clock went back.
      const wait = newest ? everyMs - Math.abs(Date.now() - newest.created_at) : 0
      if (wait > 0) return sleep(Math.min(wait, longestSleep))
      const began = performance.now()
      const { name, bytes } = await backups.create({ scheduled: true, signal: stopping.signal })
      const removed = await backups.prune(keep)
      log.info('backed up', {
        backup: name,
        bytes,
        ms: Math.round(performance.now() - began),
        removed: removed.length,
      })
      sleep(Math.min(everyMs, longestSleep))
    } catch (reason) {
      if (stopping.signal.aborted) return
      const { message, details } = toAppError(reason)
      log.error('no backup', { reason: [message, ...details].join('; ') })
      sleep(Math.min(everyMs, retryMs))
    }
  }

  sleep(soonMs)
  return {
    async close() {
      stopping.abort()
      clearTimeout(timer)
      await running
    },
  }
}
