/**
 * The one shape of a chat inside aichat: OpenAI's chat completions (https://platform.openai.com/docs/api-reference/chat),
 * because most providers speak it already. Dialects convert to and from this shape; nothing else knows another one.
 * Unknown fields of OpenAI's dialect stay where OpenAI puts them; fields of another dialect alone travel in
 * `extra_content` or in a `ForeignPart`, and reach a provider that speaks that dialect.
 */

/**
 * Fields of one dialect alone, by dialect: `anthropic`, `gemini`, `ollama`, `responses`. OpenAI's dialect never sends these.
 * `google` is different: Gemini's OpenAI-compatible service puts it on the wire itself, for thought signatures
 * (https://ai.google.dev/gemini-api/docs/thought-signatures).
 */
export type ExtraContent = Readonly<Record<string, Readonly<Record<string, unknown>>>>

export interface TextPart {
  readonly type: 'text'
  readonly text: string
  readonly extra_content?: ExtraContent
}

export interface ImagePart {
  readonly type: 'image_url'
  /** `url` is an https address or a `data:` URL with base64. */
  readonly image_url: { readonly url: string; readonly detail?: string }
  readonly extra_content?: ExtraContent
}

/** A part of a message, or a tool, that only one dialect has: kept unchanged, left out in every other dialect. */
export interface ForeignPart {
  readonly type: 'foreign'
  readonly dialect: 'anthropic' | 'ollama' | 'responses'
  readonly value: Readonly<Record<string, unknown>>
}

/** A part of OpenAI's dialect that no converter knows, such as `input_audio`: other dialects leave it out. */
export interface OtherPart {
  readonly type: string
  readonly [field: string]: unknown
}

export type ContentPart = TextPart | ImagePart | ForeignPart | OtherPart

/**
 * A piece of the model's thinking, as OpenRouter spells it
 * (https://openrouter.ai/docs/use-cases/reasoning-tokens): `reasoning.text` has `text` and perhaps the `signature` that the
 * provider wants back, `reasoning.encrypted` has `data`, `reasoning.summary` has `summary`.
 */
export interface ReasoningDetail {
  readonly type: string
  readonly text?: string | null
  readonly signature?: string | null
  readonly data?: string
  readonly summary?: string
  readonly format?: string | null
  readonly index?: number
  readonly [field: string]: unknown
}

/** The `format` of the Responses dialect's encrypted reasoning. */
export const reasoningFormat = 'openai-responses-v1'

export interface ToolCall {
  readonly id: string
  readonly type: 'function'
  /** `arguments` is JSON as text; "" stands for no arguments. */
  readonly function: { readonly name: string; readonly arguments: string }
  /** Fields that a provider wants back unchanged with this call, such as Gemini's thought signature. */
  readonly extra_content?: ExtraContent
}

export interface Message {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool'
  readonly content: string | readonly ContentPart[] | null
  readonly name?: string
  readonly tool_calls?: readonly ToolCall[]
  /** On a message of role `tool`: the call that it answers. */
  readonly tool_call_id?: string
  /** The model's thinking before its answer, where a provider sends it. */
  readonly reasoning_content?: string
  /** The same in pieces, with the signatures that a provider wants back. */
  readonly reasoning_details?: readonly ReasoningDetail[]
  readonly refusal?: string | null
  readonly extra_content?: ExtraContent
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
  readonly extra_content?: ExtraContent
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
  readonly tools?: readonly (Tool | ForeignPart)[]
  readonly tool_choice?: ToolChoice
  readonly parallel_tool_calls?: boolean
  readonly response_format?: ResponseFormat
  readonly reasoning_effort?: string
  readonly stream?: boolean | null
  readonly stream_options?: { readonly include_usage?: boolean; readonly [field: string]: unknown } | null
  readonly extra_content?: ExtraContent
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
  readonly extra_content?: ExtraContent
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
  readonly extra_content?: ExtraContent
  readonly [field: string]: unknown
}

export interface ToolCallDelta {
  readonly index: number
  /** Present in the first piece of a call only. */
  readonly id?: string
  readonly type?: 'function'
  readonly function?: { readonly name?: string; readonly arguments?: string }
  readonly extra_content?: ExtraContent
}

export interface Delta {
  readonly role?: 'assistant'
  readonly content?: string | null
  readonly reasoning_content?: string
  /** Pieces of the thinking; a signature comes in a piece of its own, after the text it signs. */
  readonly reasoning_details?: readonly ReasoningDetail[]
  readonly tool_calls?: readonly ToolCallDelta[]
  readonly refusal?: string | null
  readonly extra_content?: ExtraContent
  readonly [field: string]: unknown
}

/**
 * One event of a streamed answer. Stream readers promise: the first delta of each choice has a role, every choice ends with
 * one finish_reason, and usage, where the provider sends it, comes exactly once, last, in a chunk that has no choices.
 */
export interface ChatChunk {
  readonly id: string
  readonly object: 'chat.completion.chunk'
  readonly created: number
  readonly model: string
  readonly choices: readonly {
    readonly index: number
    readonly delta: Delta
    readonly finish_reason: FinishReason | null
    readonly extra_content?: ExtraContent
    readonly [field: string]: unknown
  }[]
  readonly usage?: Usage | null
  readonly extra_content?: ExtraContent
  readonly [field: string]: unknown
}

/** The address of an image part; undefined for any other part. Mistral's clients write the address without an object. */
export function imageUrlOf(part: ContentPart): string | undefined {
  if (part.type !== 'image_url') return undefined
  const image = (part as { readonly image_url?: unknown }).image_url
  const url = typeof image === 'string' ? image : (image as { readonly url?: unknown } | null | undefined)?.url
  return typeof url === 'string' ? url : undefined
}

/** The words of a part in which a model refused (https://platform.openai.com/docs/api-reference/chat/create); else "". */
export function refusalOf(part: ContentPart): string {
  const { refusal } = part as { readonly refusal?: unknown }
  return part.type === 'refusal' && typeof refusal === 'string' ? refusal : ''
}

/** A message's content with its refusal, which is text for the user too. */
export function contentOf({ content, refusal }: Pick<Message, 'content' | 'refusal'>): Message['content'] {
  if (!refusal || content === refusal) return content
  if (Array.isArray(content)) return [...content, { type: 'text', text: refusal }]
  return `${(content as string | null) ?? ''}${refusal}`
}

/** The text of a message, its text parts joined, refusals among them; images and other parts are left out. */
export function textOf(content: Message['content'] | undefined): string {
  if (typeof content === 'string') return content
  if (!content) return ''
  return content.map((part) => (part.type === 'text' ? String((part as TextPart).text) : refusalOf(part))).join('')
}
