import type { Refused } from '../../../wire/client.ts'
import type { WholeSession } from '../../../wire/types.ts'

/** A picture of a message: its bytes as a data URL for the API, and an address that this page may show. */
export interface Picture {
  readonly name: string
  readonly data: string
  readonly address: string
}

/** The API's report about an answer. */
export interface Report {
  readonly plugin?: string | null
  readonly runner?: string | null
  readonly model?: string
  readonly fallback?: boolean
  readonly warnings?: readonly string[]
  readonly attempts?: readonly {
    readonly outcome: string
    readonly plugin: string | null
    readonly runner: string | null
    readonly error?: string
  }[]
  readonly memories?: readonly { readonly id: string; readonly score: number }[]
  readonly cost?: {
    readonly cost_usd: string | null
    readonly tokens?: { readonly input: number; readonly output: number }
  }
}

export interface ChatMessage {
  readonly id: number
  readonly role: 'user' | 'assistant'
  readonly text: string
  readonly pictures?: readonly Picture[]
  readonly isWriting?: boolean
  /** Stopped by the person. */
  readonly isStopped?: boolean
  readonly problem?: Refused
  readonly report?: Report
}

/** The messages of a saved conversation. */
export function savedMessages(saved: WholeSession['messages']): readonly ChatMessage[] {
  return saved.flatMap((message, at) => {
    const { role, content, cut, answer } = message as typeof message & { readonly content?: unknown }
    if (role !== 'user' && role !== 'assistant') return []
    return [
      {
        // Below every id that this page gives out.
        id: at - saved.length,
        role,
        text: textOf(content),
        ...(cut && { isStopped: true }),
        ...(answer?.model !== undefined && {
          report: { model: answer.model, plugin: answer.plugin ?? null, runner: answer.runner ?? null },
        }),
      },
    ]
  })
}

/** The text of a message's content; other parts by their kind. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map(
      (part: { readonly type?: string; readonly text?: string }) =>
        part.text ?? (part.type === 'image_url' ? '(a picture)' : ''),
    )
    .join('\n')
}
