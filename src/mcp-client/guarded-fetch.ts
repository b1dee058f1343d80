import type { HttpResponse, Send } from '../http/http.ts'
import { longestMessage } from './server-process.ts'

/** Milliseconds of an exchange with a server; its calls have a time limit of their own. */
const timeouts = { connect: 10_000, firstByte: 120_000, idle: 120_000 }

/**
 * `fetch` for the SDK through the one way out, which judges every address that is dialled and follows no redirect. No stream
 * for messages between calls is opened: the answer to a GET is 405, as from a server that has none. An answer that is too long
 * is cut off, and `onTooLong` is called.
 */
export function guardedFetch(send: Send, onTooLong: () => void) {
  return async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const { method = 'GET', headers, body, signal } = init
    if (method === 'GET') return new Response(null, { status: 405 })
    const response = await send({
      method: method === 'DELETE' ? 'DELETE' : 'POST',
      url: String(url),
      headers: Object.fromEntries(new Headers(headers)),
      ...(typeof body === 'string' && { body }),
      timeouts,
      ...(signal && { signal }),
    })
    return responseOf(response, onTooLong)
  }
}

function responseOf(response: HttpResponse, onTooLong: () => void): Response {
  const headers = new Headers()
  for (const [name, value] of Object.entries(response.headers))
    if (value !== undefined) headers.set(name, typeof value === 'string' ? value : value.join(', '))
  // The body is decompressed already.
  for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) headers.delete(name)
  const { status } = response
  const isBodiless = [101, 204, 205, 304].includes(status)
  if (isBodiless) response.discard()
  return new Response(isBodiless ? null : streamOf(response, onTooLong), {
    status: status < 200 ? 502 : status,
    headers,
  })
}

function streamOf({ body }: HttpResponse, onTooLong: () => void): ReadableStream<Uint8Array> {
  let size = 0
  const pieces = body[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next()
      if (done) return controller.close()
      size += value.length
      if (size <= longestMessage) return controller.enqueue(value)
      onTooLong()
      controller.error(new Error('The answer is too long'))
      await pieces.return?.()
    },
    async cancel() {
      await pieces.return?.()
    },
  })
}
