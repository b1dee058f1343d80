/** The flags of `chat`, as commander gives them. */
export interface ChatOptions {
  readonly model?: string
  readonly persona?: string
  readonly role?: string
  readonly session?: string
  readonly continue?: boolean
  readonly memory: boolean
  readonly file?: readonly string[]
  readonly prompt?: string
  readonly temperature?: number
  readonly maxTokens?: number
  readonly stream: boolean
  readonly fallback: boolean
  readonly dryRun?: boolean
}
