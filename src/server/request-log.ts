import { performance } from 'node:perf_hooks'
import type { App } from '../app/app.ts'
import type { Log } from './log.ts'
import type { RequestContext } from './request-context.ts'

/** Called with each answer at its end, with its route's pattern. */
export type Observe = (context: RequestContext, route: string, status: number) => void

/** Polled every few seconds by supervisors and collectors, and by the console while its live view is open. */
const probes: ReadonlySet<string> = new Set(['/health', '/ready', '/metrics', '/api/requests', '/api/load'])

/**
 * Writes a line for each answer, once it has ended or was cut off: routes by their patterns and models by their labels, since
 * addresses and names may hold personal data or keys. Probes that succeed are for the level `debug`.
 */
export function requestLog(log: Log, { chats }: Pick<App, 'chats'>, server: string): Observe {
  return ({ request, id, startedAt, record }, route, status) => {
    const write = status < 400 && probes.has(route) ? log.debug : log.info
    if (!write.isOn) return
    const { client, user, plugin, place, hasAnswered, attempts, sentBefore } = record
    write('request', {
      request_id: id,
      method: request.method,
      route: route || 'unknown',
      status,
      duration_ms: Math.round(performance.now() - startedAt),
      bytes: request.socket.bytesWritten - sentBefore,
      client,
      user,
      server,
      plugin,
      model: place && chats.labelOf(place, hasAnswered),
      attempts: plugin === undefined ? undefined : attempts,
    })
  }
}
