import type { Span } from '../telemetry/span.ts'
import type { Attempt } from './attempts.ts'

/** Follows one request through the core, for its log line and its trace. The face that received it makes one. */
export interface RequestWatch {
  /** The span of the request, where traces are kept. */
  readonly span?: Span | undefined
  /** Told about each target that was asked. */
  attempted(attempt: Pick<Attempt, 'plugin' | 'runner' | 'model' | 'tries' | 'outcome'>): void
}
