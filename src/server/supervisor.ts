import { execFile } from 'node:child_process'
import type { Environment } from '../settings/settings.ts'
import type { Log } from './log.ts'

/** Tells systemd how the service does: sd_notify(3). Does nothing where NOTIFY_SOCKET is not set. */
export type Supervisor = ReturnType<typeof openSupervisor>

/** How long `systemd-notify` may take: milliseconds. It waits until systemd has read the message, for 5 s at the most. */
const notifyTimeoutMs = 10_000

/**
 * Node has no datagram sockets of this kind, so that `systemd-notify` speaks for the service; the unit needs
 * NotifyAccess=all. A failure is logged once and stops nothing.
 */
export function openSupervisor(environment: Environment, log: Pick<Log, 'warn'>, pid = process.pid) {
  const { NOTIFY_SOCKET, PATH, WATCHDOG_USEC = '', WATCHDOG_PID = String(pid) } = environment
  let last: Promise<void> = Promise.resolve()
  let pulse: NodeJS.Timeout | undefined
  let hasFailed = false
  const isWatched = WATCHDOG_PID === String(pid) && /^[1-9]\d*$/.test(WATCHDOG_USEC)
  /** A process without a sign of life for so long is restarted: milliseconds; undefined for never. */
  const watchdogMs = isWatched ? Number(WATCHDOG_USEC) / 1000 : undefined
  if (!NOTIFY_SOCKET) return { watchdogMs, ready() {}, reloading() {}, stopping() {}, close: async () => undefined }
  return {
    watchdogMs,
    /** The service answers; begins the signs of life that WATCHDOG_USEC asks for. */
    ready(status: string) {
      tell('READY=1', `STATUS=${oneLine(status)}`)
      // A timer of the event loop: where that stands still no sign of life goes out.
      if (watchdogMs !== undefined) pulse ??= setInterval(() => tell('WATCHDOG=1'), watchdogMs / 2).unref()
    },
    reloading: () => tell('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`, 'STATUS=reloading'),
    /** The service stops, which takes this long at the most: milliseconds. */
    stopping: (status: string, withinMs: number) =>
      tell('STOPPING=1', `STATUS=${oneLine(status)}`, `EXTEND_TIMEOUT_USEC=${withinMs * 1000}`),
    /** Ends the signs of life; resolves when everything is sent. */
    async close() {
      clearInterval(pulse)
      await last
    },
  }

  /** Messages go out one after the other: systemd reads the last state. */
  function tell(...fields: readonly string[]): void {
    last = last.then(
      () =>
        new Promise((resolve) => {
          const env = { NOTIFY_SOCKET, ...(PATH !== undefined && { PATH }) }
          execFile('systemd-notify', fields, { env, timeout: notifyTimeoutMs }, (reason) => {
            if (reason && !hasFailed)
              log.warn('systemd is not told how the service does', {
                reason: reason.code === 'ENOENT' ? 'systemd-notify is not in PATH' : 'systemd-notify failed',
              })
            hasFailed ||= reason !== null
            resolve()
          })
        }),
    )
  }
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').slice(0, 200)
}
