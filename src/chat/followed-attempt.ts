import { looksLikeKey } from '../plugins/plugins.ts'
import type { Span } from '../telemetry/telemetry.ts'
import type { Attempt } from './attempts.ts'
import type { ChatCounts, ChatOutcome } from './chat-counts.ts'
import type { BookedCost } from './metering.ts'
import type { ChatChunk, ChatReply, ChatRequest, Usage } from './protocol/messages.ts'
import type { Target } from './provider.ts'
import { providerName } from './provider-name.ts'
import type { RequestWatch } from './watch.ts'

export interface FollowedParts {
  readonly counts: ChatCounts | undefined
  /** Milliseconds, monotonic. */
  readonly now: () => number
  /** Follows the whole request, with its span. */
  readonly watch: RequestWatch | undefined
}

/** Follows a target from its first try to the end of its answer: durations for the metrics, and a span with facts. */
export class FollowedAttempt {
  readonly #parts: FollowedParts
  readonly #target: Target
  readonly #begunAt: number
  readonly #span: Span | undefined
  #isNoted = false

  constructor(parts: FollowedParts, target: Target, request: ChatRequest, isStream: boolean) {
    this.#parts = parts
    this.#target = target
    this.#begunAt = parts.now()
    this.#span = parts.watch?.span && spanOf(parts.watch.span, target, request, isStream)
    parts.watch?.asks?.(target)
  }

  /** The trace context for the provider; undefined without a trace. */
  get headers(): Readonly<Record<string, string>> | undefined {
    return this.#span?.headers
  }

  get isTraced(): boolean {
    return this.#span !== undefined
  }

  /** The first content of a stream has come. */
  begun(): void {
    const seconds = this.#seconds()
    this.#parts.counts?.begun(this.#target, seconds)
    this.#parts.watch?.begun?.()
    this.#span?.set({ 'gen_ai.response.time_to_first_chunk': seconds })
  }

  /** Notes the facts of an answer. */
  note({ id, model, usage, choices }: Pick<ChatReply | ChatChunk, 'id' | 'model' | 'usage' | 'choices'>): void {
    this.#isNoted = true
    const reasons = choices.flatMap(({ finish_reason: reason }) => reason ?? [])
    this.#span?.set({
      'gen_ai.response.id': id,
      'gen_ai.response.model': model,
      ...(reasons.length > 0 && { 'gen_ai.response.finish_reasons': reasons }),
      ...(usage && usageAttributes(usage)),
    })
  }

  /** Notes a part of a stream where it has facts: the first, and those with an end or counts. */
  notePart(chunk: ChatChunk): void {
    if (!this.#isNoted || chunk.usage || chunk.choices[0]?.finish_reason) this.note(chunk)
  }

  /** The target gave no answer. */
  failed({ class: failure, tries, status }: Pick<Attempt, 'class' | 'tries' | 'status'>): void {
    this.#span?.set({ ...triesAttributes(tries), 'http.response.status_code': status })
    this.#span?.end(failure ?? '_OTHER')
  }

  /** The target was asked, and answered at the try of this number. */
  tried(tries: number): void {
    this.#span?.set(triesAttributes(tries))
  }

  /** A part of the answer has come, of so many tokens. */
  delivered(tokens: number, usage: Usage | null | undefined): void {
    this.#parts.watch?.delivered?.(tokens, usage)
  }

  /** The answer has ended in this way. */
  ended(outcome: ChatOutcome, cost?: BookedCost): void {
    this.#parts.watch?.ended?.(outcome, { cost })
    if (outcome === 'answered') this.#parts.counts?.answered(this.#target, this.#seconds())
    this.#span?.end(outcome === 'answered' ? undefined : outcome)
  }

  #seconds(): number {
    return (this.#parts.now() - this.#begunAt) / 1000
  }
}

function spanOf(request: Span, target: Target, asked: ChatRequest, isStream: boolean): Span {
  const model = looksLikeKey(target.model) ? 'other' : target.model
  const { max_completion_tokens, max_tokens, temperature, top_p, n } = asked
  return request.child(`chat ${model}`, target.runner === 'embedded' ? 'internal' : 'client', {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': providerName(target.plugin ?? target.runner ?? 'local'),
    'gen_ai.request.model': model,
    ...(isStream && { 'gen_ai.request.stream': true }),
    'gen_ai.request.max_tokens': max_completion_tokens ?? max_tokens ?? undefined,
    'gen_ai.request.temperature': temperature ?? undefined,
    'gen_ai.request.top_p': top_p ?? undefined,
    ...(n != null && n > 1 && { 'gen_ai.request.choice.count': n }),
    ...(target.plugin !== null && { 'aichat.plugin': target.plugin }),
  })
}

function triesAttributes(tries: number) {
  return tries > 1 ? { 'http.request.resend_count': tries - 1 } : {}
}

function usageAttributes({
  prompt_tokens,
  completion_tokens,
  prompt_tokens_details: input,
  completion_tokens_details,
}: Usage) {
  return {
    'gen_ai.usage.input_tokens': prompt_tokens,
    'gen_ai.usage.output_tokens': completion_tokens,
    'gen_ai.usage.cache_read.input_tokens': input?.cached_tokens,
    'gen_ai.usage.cache_write.input_tokens': input?.cache_write_tokens,
    'gen_ai.usage.reasoning.output_tokens': completion_tokens_details?.reasoning_tokens,
  }
}
