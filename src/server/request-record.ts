import type { Attempt } from '../chat/attempts.ts'
import type { RequestWatch } from '../chat/watch.ts'
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
  place: Pick<Attempt, 'plugin' | 'model'> | undefined
  hasAnswered = false
  /** Requests sent to providers and runners. */
  attempts = 0
  /** Bytes that the connection had sent before. */
  readonly sentBefore: number

  constructor(sentBefore: number) {
    this.sentBefore = sentBefore
  }

  attempted(attempt: Pick<Attempt, 'plugin' | 'runner' | 'model' | 'tries' | 'outcome'>): void {
    const { plugin, runner, tries, outcome } = attempt
    this.plugin = plugin ?? `local:${runner}`
    this.place = attempt
    this.hasAnswered = outcome === 'answered'
    this.attempts += tries
  }
}
