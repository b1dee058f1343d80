import { once } from 'node:events'
import type { App } from '../app/app.ts'
import { AppError } from '../errors.ts'
import { type Bag, within } from '../process/process.ts'
import type { Log } from './log.ts'
import type { RequestContext } from './request-context.ts'

/** How long cut answers may take to send their last event: milliseconds. */
export const lastEventsMs = 2_000

/** Logs when the database that instances share goes away, and when it is back. */
export function tellOfDatabase({ database }: App, log: Log): void {
  database?.onAway((reason) => {
    if (reason === undefined) log.notice('the database is back', { database: database.name })
    else log.warn('the database is away', { database: database.name, reason: (reason as Error).message })
  })
}

/** Ends the answers that are still under way, each with the error event of its stream, as far as clients take that in time. */
export async function cutAnswers(open: Bag<RequestContext>, log: Log): Promise<void> {
  const contexts = open.items()
  if (contexts.length === 0) return
  log.warn('the time for answers in flight is over: they end with an error', { answers: contexts.length })
  const ended = contexts.map(({ response }) => response.closed || once(response, 'close'))
  for (const context of contexts)
    context.abort(new AppError('unavailable', 'This server is stopping', { retryAfter: 5 }))
  await within(Promise.all(ended), lastEventsMs)
}
