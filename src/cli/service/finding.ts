/** A finding of `aichat doctor`. */
export interface Finding {
  readonly check: string
  readonly status: 'ok' | 'warning' | 'failed'
  readonly detail: string
  /** How to fix it. */
  readonly fix?: string
}
