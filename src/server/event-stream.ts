import { isEnding, readyIn } from '../chat/chat.ts'
import type { AppError } from '../errors.ts'
import { drained, encodingOf, errorBody, failureOf, type RequestContext } from './request-context.ts'

/** The format of a stream; by default server-sent events. */
export interface EventFormat {
  readonly type?: string
  /** Sent through a long silence. */
  readonly heartbeat?: string
}

/** Encodes an answer as events; every text is whole events, or empty. */
export interface EventEncoder<T> extends EventFormat {
  push(chunk: T): string
  /** The end of a complete answer; a promise for one that is kept before it is sent. */
  end(): string | Promise<string>
  /** A failure after the first byte, after the status 200. */
  fail(error: AppError): string
}

/** A sign of life this often keeps proxies from closing a silent stream: milliseconds. */
const heartbeatMs = 15_000

/** Streams chunks as events at the client's pace; the first sends the headers, a failure becomes an error event. */
export async function sendEvents<T>(
  context: RequestContext,
  chunks: AsyncIterable<T>,
  encoder: EventEncoder<T>,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { response } = context
  const { type = 'text/event-stream; charset=utf-8', heartbeat: signOfLife = ': waiting\n\n' } = encoder
  response.statusCode = 200
  response.setHeader('content-type', type)
  // https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_buffering
  response.setHeader('x-accel-buffering', 'no')
  for (const name in headers) response.setHeader(name, headers[name]!)
  response.socket?.setNoDelay(true)
  const heartbeat = setInterval(() => response.write(signOfLife), heartbeatMs).unref()
  let pending = ''
  let willFlush = false
  const flush = () => {
    willFlush = false
    if (pending === '') return
    response.write(pending, encodingOf(pending))
    pending = ''
  }
  const end = (last: string) => {
    clearInterval(heartbeat)
    const text = pending + last
    pending = ''
    response.end(text, encodingOf(text))
  }
  try {
    for await (const chunk of chunks) {
      heartbeat.refresh()
      pending += encoder.push(chunk)
      for (let more = readyIn(chunks); more !== undefined; more = readyIn(chunks)) pending += encoder.push(more)
      // Events that arrive together are written together, also with the end: each write costs more than the events in it.
      if (!willFlush && !isEnding(chunks)) {
        willFlush = true
        process.nextTick(flush)
      }
      if (response.writableNeedDrain && !response.destroyed) await drained(response)
      context.throwIfAborted()
    }
    end(await encoder.end())
  } catch (thrown) {
    end(encoder.fail(failureOf(context, thrown)))
  }
}

/** One JSON value per event, `[DONE]` at a complete end, an `error` event with the failure and its status at any other. */
export function jsonEvents({ id }: RequestContext): EventEncoder<unknown> {
  return {
    push: (chunk) => `data: ${JSON.stringify(chunk)}\n\n`,
    end: () => 'data: [DONE]\n\n',
    fail: (error) => `event: error\ndata: ${JSON.stringify({ ...errorBody(error, id), status: error.status })}\n\n`,
  }
}
