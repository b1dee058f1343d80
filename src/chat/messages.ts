/**
 * The one shape of a chat inside aichat: OpenAI's chat completions (https://platform.openai.com/docs/api-reference/chat),
 * because most providers speak it already. Dialects convert to and from this shape; nothing else knows another one.
 * Unknown fields are carried along and reach a provider that speaks the same dialect.
 */

export interface TextPart {
  readonly type: 'text'
  readonly text: string
}

export interface ImagePart {
  readonly type: 'image_url'
  /** `url` is an https address or a `data:` URL with base64. */
  readonly image_url: { readonly url: string; readonly detail?: string }
}

/** A part that no converter knows; it is passed on where the dialect is the same and left out elsewhere. */
export interface OtherPart {
  readonly type: string
  readonly [field: string]: unknown
}

export type ContentPart = TextPart | ImagePart | OtherPart

export interface ToolCall {
  readonly id: string
  readonly type: 'function'
  /** `arguments` is JSON as text; "" stands for no arguments. */
  readonly function: { readonly name: string; readonly arguments: string }
  /** What a provider wants back word for word with this call, such as Gemini's thought signature. */
  readonly extra_content?: Readonly<Record<string, unknown>>
}

export interface Message {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool'
  readonly content: string | readonly ContentPart[] | null
  readonly name?: string
  readonly tool_calls?: readonly ToolCall[]
  /** On a message of role `tool`: the call that it answers. */
  readonly tool_call_id?: string
  /** What the model thought before it answered, where a provider tells. */
  readonly reasoning_content?: string
  readonly refusal?: string | null
  readonly [field: string]: unknown
}

export interface Tool {
  readonly type: 'function'
  readonly function: {
    readonly name: string
    readonly description?: string
    /** A JSON Schema. */
    readonly parameters?: Readonly<Record<string, unknown>>
    readonly strict?: boolean | null
  }
}

export type ToolChoice =
  | 'none'
  | 'auto'
  | 'required'
  | { readonly type: 'function'; readonly function: { readonly name: string } }

export type ResponseFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json_object' }
  | {
      readonly type: 'json_schema'
      readonly json_schema: {
        readonly name: string
        readonly schema?: Readonly<Record<string, unknown>>
        readonly strict?: boolean | null
        readonly description?: string
      }
    }

export interface ChatRequest {
  readonly model: string
  readonly messages: readonly Message[]
  readonly temperature?: number | null
  readonly top_p?: number | null
  readonly top_k?: number | null
  /** The most tokens of the answer; either name is read. */
  readonly max_tokens?: number | null
  readonly max_completion_tokens?: number | null
  readonly stop?: string | readonly string[] | null
  readonly seed?: number | null
  readonly n?: number | null
  readonly presence_penalty?: number | null
  readonly frequency_penalty?: number | null
  readonly tools?: readonly Tool[]
  readonly tool_choice?: ToolChoice
  readonly parallel_tool_calls?: boolean
  readonly response_format?: ResponseFormat
  readonly reasoning_effort?: string
  readonly stream?: boolean | null
  readonly stream_options?: { readonly include_usage?: boolean; readonly [field: string]: unknown } | null
  readonly [field: string]: unknown
}

/** The five ends of an answer that every dialect maps to; see finish reasons in each dialect. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'error'

/** Token counts. `prompt_tokens` holds the cached ones too, as OpenAI counts; `total_tokens` is the sum. */
export interface Usage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  readonly prompt_tokens_details?: {
    readonly cached_tokens?: number
    readonly cache_write_tokens?: number
    readonly [field: string]: unknown
  }
  readonly completion_tokens_details?: { readonly reasoning_tokens?: number; readonly [field: string]: unknown }
  readonly [field: string]: unknown
}

export interface Choice {
  readonly index: number
  readonly message: Message
  readonly finish_reason: FinishReason
  readonly [field: string]: unknown
}

export interface ChatReply {
  readonly id: string
  readonly object: 'chat.completion'
  /** Seconds since 1970 UTC, as in OpenAI's shape. */
  readonly created: number
  readonly model: string
  readonly choices: readonly Choice[]
  readonly usage?: Usage
  readonly [field: string]: unknown
}

export interface ToolCallDelta {
  readonly index: number
  /** Present in the first piece of a call only. */
  readonly id?: string
  readonly type?: 'function'
  readonly function?: { readonly name?: string; readonly arguments?: string }
  readonly extra_content?: Readonly<Record<string, unknown>>
}

export interface Delta {
  readonly role?: 'assistant'
  readonly content?: string | null
  readonly reasoning_content?: string
  readonly tool_calls?: readonly ToolCallDelta[]
  readonly refusal?: string | null
  readonly [field: string]: unknown
}

/** One event of a streamed answer. The chunk that carries `usage` at the end has no choices. */
export interface ChatChunk {
  readonly id: string
  readonly object: 'chat.completion.chunk'
  readonly created: number
  readonly model: string
  readonly choices: readonly {
    readonly index: number
    readonly delta: Delta
    readonly finish_reason: FinishReason | null
    readonly [field: string]: unknown
  }[]
  readonly usage?: Usage | null
  readonly [field: string]: unknown
}

/** The text of a message, its text parts joined; images and other parts are left out. */
export function textOf(content: Message['content'] | undefined): string {
  if (typeof content === 'string') return content
  if (!content) return ''
  return content.map((part) => (part.type === 'text' ? String((part as TextPart).text) : '')).join('')
}
