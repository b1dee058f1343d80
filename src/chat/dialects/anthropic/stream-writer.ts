import { type ClientError, DialectError, type StreamWriter } from '../../protocol/dialect.ts'
import { type JsonObject, objectOf } from '../../protocol/json-object.ts'
import type { ChatChunk, ChatRequest, Delta, FinishReason, ToolCallDelta, Usage } from '../../protocol/messages.ts'
import { AnswerTokens, estimateRequestTokens } from '../../protocol/token-estimate.ts'
import { usageSoFar } from '../../protocol/usage-so-far.ts'
import { extraOf } from '../shared/alternation.ts'
import { generatedId } from '../shared/tool-ids.ts'
import { writeThinking } from './content.ts'
import { badEnding, explanationOf, writeError, writeFinish, writeUsage } from './response.ts'

/** The block that is being written. */
interface OpenBlock {
  readonly kind: 'text' | 'thinking' | 'call' | 'foreign'
  readonly index: number
  /** The index of the call, or the foreign block's index in its own stream. */
  readonly source: unknown
}

/**
 * Writes the first choice of a stream as Anthropic's events: one block open at a time, as the official clients expect.
 * Pieces of a second call that come before the first one has ended wait for it.
 */
export function createStreamWriter(request: ChatRequest): StreamWriter {
  let out = ''
  let started = false
  let open: OpenBlock | undefined
  let nextIndex = 0
  let finish: FinishReason | undefined
  let usage: Usage | undefined
  /** Whether the provider reported the counts of the whole; else they are estimated. */
  let isCounted = false
  const answered = new AnswerTokens()
  let ending: JsonObject = {}
  let refused = false
  /** How the answer ended badly, where it did. */
  let problem: string | undefined
  const waiting = new Map<number, ToolCallDelta[]>()
  const done = new Set<number>()
  let called = false

  function send(type: string, fields: JsonObject): void {
    out += `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
  }

  function start(chunk: ChatChunk, own: JsonObject): void {
    started = true
    const message = {
      id: chunk.id,
      type: 'message',
      role: 'assistant',
      model: chunk.model,
      content: [],
      ...own,
      stop_reason: null,
      stop_sequence: null,
      usage: { ...writeUsage(begunUsage(usageSoFar(chunk)?.usage)), ...objectOf(own['usage']) },
    }
    send('message_start', { message })
  }

  /** The counts of the prompt: as the provider reported them by now, or else by estimate, as count_tokens gives it. */
  function begunUsage(reported: Usage | undefined): Usage {
    const prompt = reported?.prompt_tokens || estimateRequestTokens(request)
    usage = { ...reported, prompt_tokens: prompt, completion_tokens: 0, total_tokens: prompt }
    return usage
  }

  function close(): void {
    if (!open) return
    send('content_block_stop', { index: open.index })
    if (open.kind === 'call') done.add(open.source as number)
    open = undefined
  }

  /** Goes on in the open block where it is the wanted one, else closes it and opens the wanted one. */
  function block(kind: OpenBlock['kind'], source: unknown, content: JsonObject): number {
    if (open && open.kind === kind && open.source === source) return open.index
    if (open?.kind === 'call') release()
    close()
    open = { kind, index: nextIndex++, source }
    send('content_block_start', { index: open.index, content_block: content })
    return open.index
  }

  function piece(index: number, delta: JsonObject): void {
    send('content_block_delta', { index, delta })
  }

  function writeText(text: string): void {
    if (text === '') return
    const index = open?.kind === 'text' ? open.index : block('text', undefined, { type: 'text', text: '' })
    // As `piece` writes it, without an object for each piece of an answer.
    const delta = `{"type":"text_delta","text":${JSON.stringify(text)}}`
    out += `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":${delta}}\n\n`
  }

  function writeDelta(delta: Delta): void {
    const thinking = { type: 'thinking', thinking: '', signature: '' }
    if (delta.reasoning_content)
      piece(block('thinking', undefined, thinking), { type: 'thinking_delta', thinking: delta.reasoning_content })
    for (const detail of delta.reasoning_details ?? []) {
      const own = writeThinking(detail)
      if (own?.['type'] === 'thinking') {
        piece(block('thinking', undefined, thinking), { type: 'signature_delta', signature: own['signature'] })
        close()
      } else if (own) {
        block('foreign', undefined, own)
        close()
      }
    }
    if (delta.refusal) refused = true
    writeText(delta.content ?? '')
    writeText(delta.refusal ?? '')
    for (const call of delta.tool_calls ?? []) writeCall(call)
    const event = objectOf(extraOf(delta, 'anthropic')['event'])
    if (event['type'] !== undefined) writeForeign(event)
  }

  function writeCall(call: ToolCallDelta): void {
    called = true
    if (done.has(call.index))
      throw new DialectError('broken', { message: 'The provider sent a piece of a tool call that had ended' })
    const isOpen = open?.kind === 'call' && open.source === call.index
    if (!isOpen && open?.kind === 'call') {
      const queue = waiting.get(call.index) ?? []
      waiting.set(call.index, [...queue, call])
      return
    }
    const index = isOpen ? open!.index : block('call', call.index, callContent(call))
    const text = call.function?.arguments ?? ''
    if (text !== '') piece(index, { type: 'input_json_delta', partial_json: text })
  }

  /** Writes the calls that waited, each whole. */
  function release(): void {
    for (const [index, pieces] of [...waiting].sort(([a], [b]) => a - b)) {
      waiting.delete(index)
      close()
      for (const call of pieces) writeCall(call)
    }
  }

  /** A server tool's block or a citation: under an index of ours, for the texts between are counted by us. */
  function writeForeign({ type, index, ...fields }: JsonObject): void {
    if (type === 'content_block_start') block('foreign', index, objectOf(fields['content_block']))
    else if (type === 'content_block_stop') close()
    else if (open) send(String(type), { index: open.index, ...fields })
  }

  function stop(): void {
    if (!started) start(emptyChunk, {})
    release()
    close()
    if (problem) fail({ message: problem, status: 502 })
    else sendEnd()
  }

  function sendEnd(): void {
    const { usage: ownUsage, stop_reason: ownReason, stop_sequence: sequence = null, ...own } = ending
    const message = { ...(called && { tool_calls: [placeholder] }), ...(refused && { refusal: 'refused' }) }
    const delta = { ...own, stop_reason: ownReason ?? writeFinish(finish ?? 'stop', message), stop_sequence: sequence }
    const counts = isCounted ? usage : usage && { ...usage, completion_tokens: Math.round(answered.sum) }
    send('message_delta', { delta, usage: writeUsage(counts, ownUsage) })
    send('message_stop', {})
  }

  function fail(error: ClientError): void {
    const { type, ...body } = writeError(error)
    send(type, body)
  }

  function flush(): string {
    const text = out
    out = ''
    return text
  }

  return {
    push(chunk) {
      const extra = extraOf(chunk, 'anthropic')
      const choice = chunk.choices.find(({ index }) => index === 0)
      if (!started && choice) start(chunk, extra)
      if (chunk.usage) {
        usage = chunk.usage
        isCounted = true
      } else if (choice) answered.add(choice.delta, chunk.model)
      // Anthropic's own explanation goes out along with the stop reason, where it came from.
      const isExplained = choice?.delta.refusal && choice.delta.refusal === explanationOf(extra)
      if (choice) writeDelta(isExplained ? { ...choice.delta, refusal: null } : choice.delta)
      if (choice?.finish_reason) {
        finish = choice.finish_reason
        if (finish === 'error') problem = badEnding(choice)
        ending = extra
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
  }
}

const emptyChunk: ChatChunk = { id: '', object: 'chat.completion.chunk', created: 0, model: '', choices: [] }

/** Stands for "there were calls"; only their being there matters. */
const placeholder = { id: '', type: 'function' as const, function: { name: '', arguments: '' } }

function callContent(call: ToolCallDelta): JsonObject {
  const name = call.function?.name ?? ''
  return {
    ...extraOf(call, 'anthropic'),
    type: 'tool_use',
    id: call.id || generatedId(name, call.index),
    name,
    input: {},
  }
}
