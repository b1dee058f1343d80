import type { IncomingMessage, Server } from 'node:http'
import { AppError } from '../errors.ts'

/** Requests with an `Expect` that this server does not know. */
const unknown = new WeakSet<IncomingMessage>()

/**
 * Serves requests with an unknown `Expect` like all others, so that they are logged, counted and answered in the error
 * shape of their route; Node would answer 417 without a body. `100-continue` stays Node's, which answers it at once.
 */
export function serveExpectations(server: Server): void {
  server.on('checkExpectation', (request, response) => {
    unknown.add(request)
    server.emit('request', request, response)
  })
}

/** Throws `expectation` for such a request (RFC 9110, section 10.1.1). */
export function refuseExpectation(request: IncomingMessage): void {
  if (!unknown.has(request)) return
  throw new AppError('expectation', 'The header Expect asks for something that this server does not do', {
    details: ['Leave the header out, or send Expect: 100-continue'],
  })
}
