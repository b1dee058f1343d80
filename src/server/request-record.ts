import type { AskedPlace, RequestWatch, ToldAttempt } from '../chat/watch.ts'
import type { RequestSpan } from '../telemetry/span.ts'

/** The facts of one request that its log line and its trace tell: never its content. */
export class RequestRecord implements RequestWatch {
  /** The client's address, behind trusted proxies. */
  client: string | undefined
  /** The user's id. */
  user: string | undefined
  span: RequestSpan | undefined
  /** The place that was asked last. */
  plugin: string | undefined
  place: Pick<AskedPlace, 'plugin' | 'model'> | undefined
  hasAnswered = false
  /** Requests sent to providers and runners. */
  attempts = 0
  /** Bytes that the connection had sent before. */
  readonly sentBefore: number
  readonly requestId: string

  constructor(sentBefore: number, requestId: string) {
    this.sentBefore = sentBefore
    this.requestId = requestId
  }

  attempted(attempt: ToldAttempt): void {
    const { plugin, runner, tries, outcome } = attempt
    this.plugin = plugin ?? `local:${runner}`
    this.place = attempt
    this.hasAnswered = outcome === 'answered'
    this.attempts += tries
  }
}
