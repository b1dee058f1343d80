/**
 * What both ends of HTTP share, without a library: the port for requests (`send.ts`), address rules, service addresses, hop headers.
 * Uses: nothing; errors alone.
 * Begin with: `send.ts`.
 */
export { addressRange, hostRange, isLocalName } from './address-range.ts'
export { connectionFailure, connectionSentence } from './connection-failure.ts'
export { hopHeader } from './hop.ts'
export {
  deadlineReached,
  type HttpRequest,
  type HttpResponse,
  type ReadError,
  type Send,
  type Timeouts,
} from './send.ts'
export { serviceUrl } from './service-url.ts'
