import type { StreamReader } from '../../protocol/dialect.ts'
import {
  isObject,
  type JsonObject,
  objectOf,
  parseEvent,
  parseObject,
  restOf,
  stringOf,
} from '../../protocol/json-object.ts'
import type { ChatChunk, Delta, Message } from '../../protocol/messages.ts'
import { createEventReader, type ServerEvent } from '../../protocol/sse.ts'
import { contentIn, cutAt, mark, marked, type TextFrame } from '../../protocol/text-frame.ts'
import { type UsageSoFar, withUsageSoFar } from '../../protocol/usage-so-far.ts'
import { withExtra } from '../shared/alternation.ts'
import { assembleReader, createResponseReader, withJsonBody } from '../shared/stream-reader.ts'
import { errorEvent, malformedResponse, throwIfError } from '../shared/wire-error.ts'
import { thinkingFormat } from './content.ts'
import { explanationOf, readFinish, readResponse, readUsage } from './response.ts'

/** A block that has begun: calls are counted, unknown blocks are passed on event by event. */
interface Block {
  readonly type: 'text' | 'thinking' | 'tool_use' | 'other'
  readonly callIndex: number
  /** Whether any of a call's arguments came. */
  filled: boolean
}

/** An event with a piece of text or thinking. */
interface Frame extends TextFrame {
  readonly isThinking: boolean
}

/** Reads Anthropic's stream (https://docs.anthropic.com/en/api/messages-streaming). `now` in milliseconds dates its chunks. */
export function createStreamReader(now = Date.now()): StreamReader {
  return withJsonBody(readEvents(now), () => createResponseReader((body) => readResponse(body, now)))
}

function readEvents(now: number): StreamReader {
  const blocks = new Map<unknown, Block>()
  const base = { id: '', object: 'chat.completion.chunk' as const, created: Math.floor(now / 1000), model: '' }
  let started = false
  let complete = false
  let calls = 0
  /** Counts grow through the stream, and each event may restate some: the last one of each field holds. */
  let usage: JsonObject | undefined
  let soFar: UsageSoFar | undefined
  let ending: JsonObject = {}
  /** The last event, where it was a piece of text or thinking: the next ones are mostly the same with another text. */
  let frame: Frame | undefined

  function chunk(delta: Delta, extra?: JsonObject): ChatChunk {
    const { id, object, created, model } = base
    const choices = [{ index: 0, delta, finish_reason: null }]
    if (!extra) return { id, object, created, model, choices }
    return { id, object, created, model, choices, extra_content: { anthropic: extra } }
  }

  /** An event that only Anthropic's clients understand, for a writer of this dialect. */
  function foreign(event: JsonObject): readonly ChatChunk[] {
    return [chunk(withExtra('anthropic', { event }))]
  }

  function take(events: readonly ServerEvent[]): readonly ChatChunk[] {
    const chunks: ChatChunk[] = []
    for (const { event, data } of events) {
      if (complete || data === '') continue
      if (event === 'error') throw errorEvent(data)
      const text = frame && contentIn(frame, data)
      if (text !== undefined) chunks.push(chunk(frame!.isThinking ? { reasoning_content: text } : { content: text }))
      else chunks.push(...read(parse(data), event))
    }
    return chunks
  }

  /** Parses an event, and keeps it as the frame where it is a piece of text or thinking in a block of that kind. */
  function parse(data: string): JsonObject {
    const isThinking = data.includes('"thinking_delta"')
    const cut =
      isThinking || data.includes('"text_delta"') ? cutAt(isThinking ? thinkingBegin : textBegin, data) : undefined
    const event = cut && parseCut(cut, isThinking)
    const isOfBlock = event && blocks.get(event['index'])?.type === (isThinking ? 'thinking' : 'text')
    frame = isOfBlock ? { ...cut, isThinking } : undefined
    return event ?? parseEvent(data)
  }

  function read(event: JsonObject, name: string): readonly ChatChunk[] {
    const type = stringOf(event['type']) ?? name
    if (type === 'ping') return []
    throwIfError(event)
    if (type === 'message_start') return start(objectOf(event['message']))
    const handler = handlers.get(type)
    if (!handler) return []
    if (!started) throw malformedResponse(`${type} came before message_start`)
    return handler(event)
  }

  const handlers = new Map<string, (event: JsonObject) => readonly ChatChunk[]>([
    ['content_block_start', startBlock],
    ['content_block_delta', readBlockDelta],
    ['content_block_stop', stopBlock],
    ['message_delta', readEnding],
    ['message_stop', stop],
  ])

  function readEnding(event: JsonObject): readonly ChatChunk[] {
    ending = { ...ending, ...objectOf(event['delta']), ...restOf(event, messageDeltaFields) }
    addUsage(event['usage'])
    // It comes behind all content.
    if (soFar && usage)
      Object.assign(soFar, { usage: readUsage(usage), isWhole: true, ...withExtra('anthropic', { usage }) })
    return []
  }

  function start(message: JsonObject): readonly ChatChunk[] {
    if (started) throw malformedResponse('a second message began inside the first')
    started = true
    base.id = stringOf(message['id']) ?? ''
    base.model = stringOf(message['model']) ?? ''
    addUsage(message['usage'])
    const first = chunk({ role: 'assistant', content: '' }, restOf(message, startFields))
    // The output that it reports stands for none: counting begins with the answer.
    soFar = usage && { usage: readUsage({ ...usage, output_tokens: 0 }), ...withExtra('anthropic', { usage }) }
    return [soFar ? withUsageSoFar(first, soFar) : first]
  }

  function addUsage(reported: unknown): void {
    if (!isObject(reported)) return
    const entries = Object.entries(reported).filter(([, value]) => value !== null)
    usage = { ...usage, ...Object.fromEntries(entries) }
  }

  function startBlock(event: JsonObject): readonly ChatChunk[] {
    const content = objectOf(event['content_block'])
    const type = blockType(content)
    blocks.set(event['index'], { type, callIndex: type === 'tool_use' ? calls++ : -1, filled: false })
    if (type === 'other') return content['type'] === 'redacted_thinking' ? encrypted(content, event) : foreign(event)
    if (type === 'text') return content['text'] ? [chunk({ content: stringOf(content['text']) ?? '' })] : []
    if (type === 'thinking')
      return content['thinking'] ? [chunk({ reasoning_content: stringOf(content['thinking']) ?? '' })] : []
    return [startCall(content, blocks.get(event['index'])!)]
  }

  function encrypted(content: JsonObject, event: JsonObject): readonly ChatChunk[] {
    blocks.set(event['index'], { type: 'thinking', callIndex: -1, filled: false })
    const data = stringOf(content['data']) ?? ''
    const index = Number(event['index'])
    return [chunk({ reasoning_details: [{ type: 'reasoning.encrypted', data, format: thinkingFormat, index }] })]
  }

  function startCall(content: JsonObject, block: Block): ChatChunk {
    if (!stringOf(content['name'])) throw malformedResponse('a call has no name')
    const input = objectOf(content['input'])
    // The input comes in pieces after this; some compatible services send it whole right here.
    const text = Object.keys(input).length > 0 ? JSON.stringify(input) : ''
    block.filled = text !== ''
    const call = {
      index: block.callIndex,
      id: stringOf(content['id']) ?? '',
      type: 'function' as const,
      function: { name: stringOf(content['name']) ?? '', arguments: text },
      ...withExtra('anthropic', restOf(content, callFields)),
    }
    return chunk({ tool_calls: [call] })
  }

  function readBlockDelta(event: JsonObject): readonly ChatChunk[] {
    const block = blocks.get(event['index'])
    if (!block) throw malformedResponse('a piece came of a block that had not begun')
    const delta = objectOf(event['delta'])
    if (block.type === 'other') return foreign(event)
    const text = (field: string) => stringOf(delta[field]) ?? ''
    switch (delta['type']) {
      case 'text_delta':
        return [chunk({ content: text('text') })]
      case 'thinking_delta':
        return [chunk({ reasoning_content: text('thinking') })]
      case 'signature_delta': {
        const index = Number(event['index'])
        const signature = text('signature')
        return [chunk({ reasoning_details: [{ type: 'reasoning.text', signature, format: thinkingFormat, index }] })]
      }
      case 'input_json_delta': {
        const piece = text('partial_json')
        if (piece === '') return []
        block.filled = true
        return [chunk({ tool_calls: [{ index: block.callIndex, function: { arguments: piece } }] })]
      }
      default:
        return foreign(event)
    }
  }

  /** A call without arguments sends none, and clients of OpenAI's dialect parse the arguments. */
  function stopBlock(event: JsonObject): readonly ChatChunk[] {
    const block = blocks.get(event['index'])
    if (block?.type === 'other') return foreign(event)
    if (block?.type !== 'tool_use' || block.filled) return []
    return [chunk({ tool_calls: [{ index: block.callIndex, function: { arguments: '{}' } }] })]
  }

  function stop(): readonly ChatChunk[] {
    complete = true
    const reason = readFinish(ending['stop_reason'], calls > 0 ? ({ tool_calls: [] } as unknown as Message) : undefined)
    const extra = { ...ending, ...(usage && { usage }) }
    const refusal = explanationOf(ending)
    const last: ChatChunk = {
      ...base,
      choices: [{ index: 0, delta: refusal === undefined ? {} : { refusal }, finish_reason: reason }],
      ...withExtra('anthropic', extra),
    }
    return usage ? [last, { ...base, choices: [], usage: readUsage(usage) }] : [last]
  }

  return assembleReader({ cut: createEventReader(), take, isComplete: () => complete })
}

const textBegin = '"text":"'
const thinkingBegin = '"thinking":"'

/** Parses an event that was cut at its text; undefined where that is not the text of its delta. */
function parseCut(cut: TextFrame, isThinking: boolean): JsonObject | undefined {
  const event = parseObject(marked(cut))
  const delta = event?.['delta'] as { type?: unknown; text?: unknown; thinking?: unknown } | undefined
  if (event?.['type'] !== 'content_block_delta' || delta?.type !== (isThinking ? 'thinking_delta' : 'text_delta'))
    return undefined
  const field = isThinking ? 'thinking' : 'text'
  if (delta[field] !== mark) return undefined
  delta[field] = cut.content
  return event
}

const startFields = new Set(['id', 'type', 'role', 'content', 'model'])
const messageDeltaFields = new Set(['type', 'delta', 'usage'])
const callFields = new Set(['type', 'id', 'name', 'input'])

function blockType(content: JsonObject): Block['type'] {
  const type = content['type']
  return type === 'text' || type === 'thinking' || type === 'tool_use' ? type : 'other'
}
