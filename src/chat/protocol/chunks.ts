import type {
  ChatChunk,
  ChatReply,
  Choice,
  Delta,
  ExtraContent,
  Message,
  ReasoningDetail,
  ToolCall,
} from './messages.ts'

/** A whole answer as the chunks that a stream of it would have had. */
export function chunksOf(reply: ChatReply): ChatChunk[] {
  const { choices, usage, object: _object, ...outline } = reply
  const base = { ...outline, object: 'chat.completion.chunk' as const }
  const chunks: ChatChunk[] = choices.map(({ message, finish_reason: _reason, extra_content: _extra, ...choice }) => ({
    ...base,
    choices: [{ ...choice, delta: deltaOf(message), finish_reason: null }],
  }))
  const endings = choices.map(({ message: _message, logprobs: _logprobs, ...choice }) => ({ ...choice, delta: {} }))
  chunks.push({ ...base, choices: endings })
  if (usage) chunks.push({ ...base, choices: [], usage })
  return chunks
}

function deltaOf({ tool_calls: calls, ...message }: Message): Delta {
  return {
    ...(message as Delta),
    role: 'assistant',
    ...(calls && { tool_calls: calls.map((call, index) => ({ index, ...call })) }),
  }
}

/** The whole answer that the chunks of a stream make up. */
export function collectReply(chunks: readonly ChatChunk[]): ChatReply {
  const drafts = new Map<number, Draft>()
  const outline = new Map<string, unknown>()
  let usage: ChatReply['usage']
  let extra: ExtraContent | undefined
  let id = ''
  for (const chunk of chunks) {
    // Azure's first chunk names nothing yet.
    if (chunk.id !== '' || id === '') {
      id = chunk.id
      for (const name in chunk) if (!ofChunks.has(name)) outline.set(name, chunk[name as keyof ChatChunk])
    }
    if (chunk.usage) usage = chunk.usage
    if (chunk.extra_content) extra = mergeExtra(extra, chunk.extra_content)
    for (const choice of chunk.choices) {
      const draft = drafts.get(choice.index) ?? newDraft()
      drafts.set(choice.index, draft)
      addDelta(draft, choice.delta)
      if (choice['logprobs']) addLogprobs(draft, choice['logprobs'])
      if (choice.finish_reason) draft.finishReason = choice.finish_reason
      if (choice.extra_content) draft.choiceExtra = mergeExtra(draft.choiceExtra, choice.extra_content)
    }
  }
  const choices = [...drafts].sort(([a], [b]) => a - b).map(([index, draft]) => choiceOf(index, draft))
  return {
    ...{ id, object: 'chat.completion', created: 0, model: '' },
    ...Object.fromEntries(outline),
    ...(usage && { usage }),
    ...(extra && { extra_content: extra }),
    choices,
  }
}

/** Fields that are not part of the whole answer; `obfuscation` (OpenAI) and `p` (Mistral) are padding of single chunks. */
const ofChunks = new Set(['choices', 'object', 'usage', 'extra_content', 'obfuscation', 'p'])

interface Draft {
  content: string | null
  reasoning: string
  refusal: string | null
  /** Where in `reasoning` the piece begins that the next signature signs. */
  signedFrom: number
  readonly details: ReasoningDetail[]
  readonly calls: ToolCall[]
  extra: ExtraContent | undefined
  choiceExtra: ExtraContent | undefined
  finishReason: Choice['finish_reason']
  logprobs: { content: unknown[]; refusal: unknown[] } | undefined
}

function newDraft(): Draft {
  return {
    content: null,
    reasoning: '',
    refusal: null,
    signedFrom: 0,
    details: [],
    calls: [],
    extra: undefined,
    choiceExtra: undefined,
    finishReason: 'error',
    logprobs: undefined,
  }
}

function addDelta(draft: Draft, delta: Delta): void {
  if (typeof delta.content === 'string') draft.content = (draft.content ?? '') + delta.content
  if (typeof delta.refusal === 'string') draft.refusal = (draft.refusal ?? '') + delta.refusal
  if (delta.reasoning_content) draft.reasoning += delta.reasoning_content
  for (const detail of delta.reasoning_details ?? []) addDetail(draft, detail)
  for (const { index, ...piece } of delta.tool_calls ?? []) {
    const begun = draft.calls[index]
    const name = begun?.function?.name || piece.function?.name || ''
    const text = (begun?.function?.arguments ?? '') + (piece.function?.arguments ?? '')
    const id = begun?.id || piece.id || ''
    draft.calls[index] = {
      ...begun,
      ...piece,
      id,
      type: 'function',
      function: { ...piece.function, name, arguments: text },
    }
  }
  if (delta.extra_content) {
    const merged = mergeExtra(draft.extra, delta.extra_content)
    if (Object.keys(merged).length > 0) draft.extra = merged
  }
}

/** The probabilities of tokens, as chat completions have them. */
function addLogprobs(draft: Draft, added: unknown): void {
  const { content, refusal } = added as { readonly content?: unknown; readonly refusal?: unknown }
  draft.logprobs ??= { content: [], refusal: [] }
  if (Array.isArray(content)) for (const one of content) draft.logprobs.content.push(one)
  if (Array.isArray(refusal)) for (const one of refusal) draft.logprobs.refusal.push(one)
}

/** The same of a whole answer; null for a text that has none. */
function logprobsOf({ content, refusal }: NonNullable<Draft['logprobs']>) {
  return { content: content.length > 0 ? content : null, refusal: refusal.length > 0 ? refusal : null }
}

/** A piece with text continues with the last one of its index; a signature alone signs the thinking since the one before. */
function addDetail(draft: Draft, detail: ReasoningDetail): void {
  const last = draft.details.at(-1)
  if (detail.signature && !detail.text && last?.index !== detail.index) {
    draft.details.push({ ...detail, text: draft.reasoning.slice(draft.signedFrom) })
  } else if (last && last.type === detail.type && last.index === detail.index && detail.type === 'reasoning.text') {
    const signature = detail.signature ?? last.signature
    draft.details[draft.details.length - 1] = {
      ...last,
      ...detail,
      text: (last.text ?? '') + (detail.text ?? ''),
      ...(signature != null && { signature }),
    }
  } else draft.details.push(detail)
  draft.signedFrom = draft.reasoning.length
}

/** An `event` is for an encoder of its own dialect only, and no part of the answer. */
function mergeExtra(begun: ExtraContent | undefined, more: ExtraContent): ExtraContent {
  const merged: Record<string, Record<string, unknown>> = { ...begun }
  for (const [name, { event: _event, ...fields }] of Object.entries(more))
    if (Object.keys(fields).length > 0) merged[name] = { ...merged[name], ...fields }
  return merged
}

function choiceOf(index: number, draft: Draft): Choice {
  const message: Message = {
    role: 'assistant',
    content: draft.content || draft.calls.length === 0 ? draft.content : null,
    ...(draft.reasoning && { reasoning_content: draft.reasoning }),
    ...(draft.details.length > 0 && { reasoning_details: draft.details }),
    ...(draft.refusal !== null && { refusal: draft.refusal }),
    ...(draft.calls.length > 0 && { tool_calls: draft.calls.filter((call) => call !== undefined) }),
    ...(draft.extra && { extra_content: draft.extra }),
  }
  return {
    index,
    message,
    finish_reason: draft.finishReason,
    ...(draft.logprobs && { logprobs: logprobsOf(draft.logprobs) }),
    ...(draft.choiceExtra && { extra_content: draft.choiceExtra }),
  }
}
