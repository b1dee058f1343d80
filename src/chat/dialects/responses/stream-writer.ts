import { AppError } from '../../../errors.ts'
import type { ClientError, StreamWriter } from '../../protocol/dialect.ts'
import { isObject, type JsonObject, objectOf, wholeOf } from '../../protocol/json-object.ts'
import type {
  ChatChunk,
  ChatRequest,
  Choice,
  Delta,
  ExtraContent,
  FinishReason,
  ToolCallDelta,
  Usage,
} from '../../protocol/messages.ts'
import { extraOf } from '../shared/alternation.ts'
import { logprobsOf } from '../shared/logprobs.ts'
import { type Outline, responseId, responseObject } from './echo.ts'
import {
  mostItems,
  mostText,
  outputParts,
  type ResponseOptions,
  shownOutput,
  tooLongAnswer,
  wantsReasoning,
} from './output.ts'
import { endingOf, writeError } from './response.ts'
import { type OpenItem, openCall, openMessage, openOther, openReasoning } from './stream-items.ts'

const none: readonly unknown[] = []

/** A writer that also tells the response that it wrote. */
export interface ResponseWriter extends StreamWriter {
  /** The response object as written so far, for storage; its reasoning is always sealed. */
  stored(): JsonObject
}

/**
 * Writes the first choice of a stream in the grammar of the Responses API: one item after the other, each from `added` to
 * `done`, and one last event with the whole response. Pieces of a second call that come before the first one is whole wait.
 */
export function createStreamWriter(request: ChatRequest, { id, seal }: ResponseOptions = {}): ResponseWriter {
  let out = ''
  let sequence = 0
  let outline: Outline | undefined
  let parts = outputParts('', request, seal)
  let open: OpenItem | undefined
  let items = 0
  let characters = 0
  const output: JsonObject[] = []
  const waiting = new Map<number, ToolCallDelta[]>()
  const ended = new Set<number>()
  /** Gemini's signature of the text, which comes with or behind it. */
  let signature: ExtraContent | undefined
  let finish: FinishReason | undefined
  let last: Choice | undefined
  let usage: Usage | undefined
  let stored: JsonObject = {}
  const isWanted = wantsReasoning(request)

  function send(type: string, fields: JsonObject): void {
    out += `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...fields })}\n\n`
  }

  function start(chunk: Outline): void {
    outline = { id: id ?? responseId(chunk), created: chunk.created, model: chunk.model }
    parts = outputParts(outline.id, request, seal)
    const response = responseObject(outline, request, { status: 'in_progress', output: [], usage: undefined })
    send('response.created', { response })
    send('response.in_progress', { response })
  }

  function close(status = 'completed'): void {
    if (!open) return
    if (open.kind === 'call') ended.add(open.source)
    output.push(open.close(status))
    open = undefined
    if (signature && output.at(-1)?.['type'] === 'message') {
      const extra = signature
      signature = undefined
      reasoning().think({ extra_content: extra })
      close()
    }
  }

  /** The place of the next item. Throws `protocol` for more than any answer needs: each costs a client several events. */
  function nextPlace(): number {
    if (items >= mostItems) throw tooLongAnswer(`${mostItems} items`)
    return items++
  }

  /** Ends the open item and the calls that wait behind it. */
  function clear(): void {
    close()
    for (const [index, pieces] of [...waiting].sort(([a], [b]) => a - b)) {
      waiting.delete(index)
      for (const piece of pieces) addCall(piece)
      close()
    }
  }

  function message(about: JsonObject = {}): ReturnType<typeof openMessage> {
    if (open?.kind === 'message') return open
    clear()
    const opened = openMessage(nextPlace(), about, parts, send)
    open = opened
    return opened
  }

  function reasoning(): ReturnType<typeof openReasoning> {
    if (open?.kind === 'reasoning') return open
    clear()
    const opened = openReasoning(nextPlace(), isWanted, parts, send)
    open = opened
    return opened
  }

  function addCall(piece: ToolCallDelta): void {
    const { index } = piece
    if (open?.kind === 'call' && open.source === index) return open.add(piece)
    if (ended.has(index)) return refuseLate(piece)
    const queue = waiting.get(index)
    if (queue || (open?.kind === 'call' && !open.isWhole())) {
      if (queue) queue.push(piece)
      else waiting.set(index, [piece])
      return
    }
    close()
    const opened = openCall(nextPlace(), piece, parts, send)
    open = opened
    opened.add(piece)
  }

  /** An empty piece of a call that has ended changes nothing. */
  function refuseLate({ function: wire }: ToolCallDelta): void {
    if ((wire?.arguments ?? '').trim() === '') return
    throw new AppError('protocol', 'The provider sent a piece of a tool call that had ended')
  }

  /** Throws `protocol` for more text than the last events, which repeat all of it, can hold. */
  function measure({ content, refusal, reasoning_content: thought, tool_calls: calls = [] }: Delta): void {
    characters += (content?.length ?? 0) + (refusal?.length ?? 0) + (thought?.length ?? 0)
    for (const call of calls) characters += call.function?.arguments?.length ?? 0
    if (characters > mostText) throw tooLongAnswer(`${mostText} characters`)
  }

  function writeDelta(delta: Delta, logprobs: readonly unknown[]): void {
    measure(delta)
    const own = extraOf(delta, 'responses')
    if (isObject(own['item'])) {
      if (open?.kind === 'message') close()
      message(own['item'])
    }
    const { reasoning_content: thought, reasoning_details: details } = delta
    if (thought || details?.length)
      reasoning().think({
        ...(thought && { reasoning_content: thought }),
        ...(details && { reasoning_details: details }),
      })
    if (delta.content || logprobs.length > 0) message().text(delta.content ?? '', logprobs)
    if (delta.refusal) message().refuse(delta.refusal)
    if (own['annotation'] !== undefined) message().annotate(own['annotation'])
    if (delta.extra_content?.['google']) signature = { google: delta.extra_content['google'] }
    for (const call of delta.tool_calls ?? []) {
      // Gemini's signature of a call goes before it.
      if (call.extra_content?.['google']) reasoning().think({ tool_calls: [call] })
      addCall(call)
    }
    const event = own['event']
    if (isObject(event)) writeOther(event)
  }

  /** The events of a hosted tool's item, by its place in its own stream. */
  function writeOther(event: JsonObject): void {
    let other = open?.kind === 'other' && open.source === (wholeOf(event['output_index']) ?? 0) ? open : undefined
    if (!other) {
      clear()
      other = openOther(nextPlace(), event, parts, send)
      open = other
    }
    other.pass(event)
    if (event['type'] === 'response.output_item.done') close()
  }

  function stop(): void {
    if (!outline) start({ id: '', created: 0, model: '' })
    const ending = endingOf(finish ?? 'stop', last)
    if (ending.status === 'failed') {
      const { message: words } = objectOf(ending.error)
      return fail({ message: String(words), code: 'server_error', status: 502 })
    }
    // The last item was cut off where the answer was.
    if (waiting.size === 0) close(ending.status)
    clear()
    finishWith(ending.status, ending.reason === undefined ? {} : { reason: ending.reason })
  }

  function finishWith(
    status: 'completed' | 'incomplete' | 'failed',
    more: { reason?: string; error?: JsonObject },
  ): void {
    stored = responseObject(outline!, request, { status, output, usage, ...more })
    send(`response.${status}`, { response: { ...stored, output: shownOutput(output, request) } })
  }

  /** Both spellings of an error in one event, then the response that failed: clients go by either. */
  function fail(error: ClientError): void {
    if (!outline) start({ id: '', created: 0, model: '' })
    const { error: body } = writeError(error)
    const { code, message: words, param } = body
    send('error', { code, message: words, param, error: body })
    finishWith('failed', { error: { code: code ?? 'server_error', message: words } })
  }

  function flush(): string {
    const text = out
    out = ''
    return text
  }

  return {
    push(chunk: ChatChunk) {
      const choice = chunk.choices.find(({ index }) => index === 0)
      if (!outline && choice) start(chunk)
      if (chunk.usage) usage = chunk.usage
      if (choice) writeDelta(choice.delta, choice['logprobs'] ? logprobsOf(choice) : none)
      if (choice?.finish_reason) {
        finish = choice.finish_reason
        last = choice as unknown as Choice
      }
      return flush()
    },
    end() {
      stop()
      return flush()
    },
    fail(error) {
      fail(error)
      return flush()
    },
    stored: () => stored,
  }
}
