import { collectReply } from '../../protocol/chunks.ts'
import { type JsonObject, objectOf, parseObject, stringOf, wholeOf } from '../../protocol/json-object.ts'
import type { Delta, ToolCall, ToolCallDelta } from '../../protocol/messages.ts'
import { itemId } from './echo.ts'
import { inputOf } from './items.ts'
import { callItem, messageItem, type OutputParts, reasoningItem, textPart, withoutSealed } from './output.ts'
import { type OwnReasoning, reasoningOf } from './reasoning.ts'

/** Sends one event of the stream, numbered. */
export type Send = (type: string, fields: JsonObject) => void

/** An output item under way. `close` returns it whole, its reasoning sealed; `status` is the response's. */
export type OpenItem =
  | ReturnType<typeof openMessage>
  | ReturnType<typeof openReasoning>
  | ReturnType<typeof openCall>
  | ReturnType<typeof openOther>

/** A message: its parts one after the other, each with its deltas. */
export function openMessage(index: number, about: JsonObject, parts: OutputParts, send: Send) {
  const phase = stringOf(about['phase'])
  const empty: JsonObject = { ...messageItem([], index, 'in_progress', parts), ...(phase !== undefined && { phase }) }
  const place = { item_id: empty['id'], output_index: index }
  const content: JsonObject[] = []
  let open: { type: 'output_text' | 'refusal'; text: string; annotations: unknown[]; logprobs: unknown[] } | undefined
  send('response.output_item.added', { output_index: index, item: empty })

  function part(type: 'output_text' | 'refusal'): NonNullable<typeof open> {
    if (open?.type === type) return open
    closePart()
    open = { type, text: '', annotations: [], logprobs: [] }
    const begun = type === 'output_text' ? textPart('') : { type, refusal: '' }
    send('response.content_part.added', { ...place, content_index: content.length, part: begun })
    return open
  }

  function closePart(): void {
    if (!open) return
    const { type, text, annotations, logprobs } = open
    const at = { ...place, content_index: content.length }
    const whole = type === 'output_text' ? { ...textPart(text, logprobs), annotations } : { type, refusal: text }
    if (type === 'output_text') send('response.output_text.done', { ...at, text, logprobs })
    else send('response.refusal.done', { ...at, refusal: text })
    send('response.content_part.done', { ...at, part: whole })
    content.push(whole)
    open = undefined
  }

  return {
    kind: 'message' as const,
    index,
    text(piece: string, logprobs: readonly unknown[] = []) {
      const begun = part('output_text')
      begun.text += piece
      for (const logprob of logprobs) begun.logprobs.push(logprob)
      const { item_id, output_index } = place
      const content_index = content.length
      send('response.output_text.delta', { item_id, output_index, content_index, delta: piece, logprobs })
    },
    refuse(piece: string) {
      part('refusal').text += piece
      send('response.refusal.delta', { ...place, content_index: content.length, delta: piece })
    },
    annotate(annotation: unknown) {
      const { annotations } = part('output_text')
      const at = { ...place, content_index: content.length, annotation_index: annotations.length }
      annotations.push(annotation)
      send('response.output_text.annotation.added', { ...at, annotation })
    },
    close(status: string): JsonObject {
      closePart()
      const item = { ...empty, status, content }
      send('response.output_item.done', { output_index: index, item })
      return item
    },
  }
}

/** A piece of reasoning: its words as a summary, and at its end the sealed whole where the client wants it. */
export function openReasoning(index: number, isWanted: boolean, parts: OutputParts, send: Send) {
  const place = { item_id: itemId('rs', parts.response, index), output_index: index, summary_index: 0 }
  const deltas: Delta[] = []
  let text = ''
  let calls: OwnReasoning['calls']
  send('response.output_item.added', { output_index: index, item: reasoningItem({}, index, parts) })

  return {
    kind: 'reasoning' as const,
    index,
    think(delta: Delta) {
      const { reasoning_content: piece, reasoning_details: details, extra_content: extra } = delta
      deltas.push({
        ...(piece && { reasoning_content: piece }),
        ...(details && { reasoning_details: details }),
        ...(extra && { extra_content: extra }),
      })
      calls = { ...calls, ...reasoningOf(delta)?.calls }
      if (!piece) return
      if (text === '')
        send('response.reasoning_summary_part.added', { ...place, part: { type: 'summary_text', text: '' } })
      text += piece
      send('response.reasoning_summary_text.delta', { ...place, delta: piece })
    },
    close(): JsonObject {
      if (text !== '') {
        send('response.reasoning_summary_text.done', { ...place, text })
        send('response.reasoning_summary_part.done', { ...place, part: { type: 'summary_text', text } })
      }
      const own = { ...collected(deltas), ...(calls && Object.keys(calls).length > 0 && { calls }) }
      const item = reasoningItem(own, index, parts)
      send('response.output_item.done', { output_index: index, item: isWanted ? item : withoutSealed(item) })
      return item
    },
  }
}

/** The reasoning of the deltas, the signatures next to the words that they sign. */
function collected(deltas: readonly Delta[]): OwnReasoning {
  const base = { id: '', object: 'chat.completion.chunk' as const, created: 0, model: '' }
  const chunks = deltas.map((delta) => ({ ...base, choices: [{ index: 0, delta, finish_reason: null }] }))
  const [choice] = collectReply(chunks).choices
  return (choice && reasoningOf(choice.message)) ?? {}
}

/** A call of a tool. The input of a custom tool is in JSON, so it goes out once it is whole. */
export function openCall(index: number, first: ToolCallDelta, parts: OutputParts, send: Send) {
  let text = ''
  let checked = { length: 0, isWhole: false }
  const call: ToolCall = {
    ...first,
    id: first.id ?? '',
    type: 'function',
    function: { name: first.function?.name ?? '', arguments: '' },
  }
  const wholeCall = (): ToolCall => ({ ...call, function: { ...call.function, arguments: text } })
  const isCustom =
    parts.names.get(call.function.name)?.isCustom || call.extra_content?.['responses']?.['custom'] === true
  const { arguments: _none, input: _empty, ...about } = begunItem()
  const place = { item_id: about['id'], output_index: index }
  send('response.output_item.added', {
    output_index: index,
    item: { ...about, [isCustom ? 'input' : 'arguments']: '' },
  })

  function begunItem(): JsonObject {
    const begun = isCustom ? { ...call, function: { ...call.function, arguments: '{"input":""}' } } : call
    return callItem(begun, index, 'in_progress', parts)
  }

  return {
    kind: 'call' as const,
    index,
    /** The index of the call among the calls. */
    source: first.index,
    add({ function: wire }: ToolCallDelta) {
      const piece = wire?.arguments ?? ''
      if (piece === '') return
      text += piece
      if (!isCustom) send('response.function_call_arguments.delta', { ...place, delta: piece })
    },
    /** Whether its arguments are whole JSON, so that another call may begin. */
    isWhole(): boolean {
      // Asked again for each further call: a text that has not grown is not parsed again.
      if (checked.length !== text.length) checked = { length: text.length, isWhole: parseObject(text) !== undefined }
      return checked.isWhole
    },
    close(status: string): JsonObject {
      const item = callItem(wholeCall(), index, status, parts)
      if (isCustom) {
        const input = inputOf(text) ?? text
        if (input !== '') send('response.custom_tool_call_input.delta', { ...place, delta: input })
        send('response.custom_tool_call_input.done', { ...place, input })
      } else {
        // A client that adds up the pieces has no arguments yet where the model gave none.
        if (text.trim() === '') send('response.function_call_arguments.delta', { ...place, delta: item['arguments'] })
        send('response.function_call_arguments.done', { ...place, name: item['name'], arguments: item['arguments'] })
      }
      send('response.output_item.done', { output_index: index, item })
      return item
    },
  }
}

/** An item of a provider of this dialect that our shape does not have, such as a search: its events, at a place of ours. */
export function openOther(index: number, added: JsonObject, parts: OutputParts, send: Send) {
  const begun = objectOf(added['item'])
  let item: JsonObject = { ...begun, id: stringOf(begun['id']) ?? itemId('item', parts.response, index) }
  let isDone = false
  if (added['type'] === 'response.output_item.added') send('response.output_item.added', { output_index: index, item })

  return {
    kind: 'other' as const,
    index,
    /** The item's place in the stream that it came from. */
    source: wholeOf(added['output_index']) ?? 0,
    pass(event: JsonObject) {
      const { type, sequence_number: _number, ...fields } = event
      if (type === 'response.output_item.added') return
      if (type === 'response.output_item.done') {
        isDone = true
        item = { ...objectOf(fields['item']), id: item['id'] }
        send('response.output_item.done', { output_index: index, item })
        return
      }
      send(String(type), { ...fields, ...('item_id' in fields && { item_id: item['id'] }), output_index: index })
    },
    close(status: string): JsonObject {
      if (!isDone) send('response.output_item.done', { output_index: index, item: { ...item, status } })
      return isDone ? item : { ...item, status }
    },
  }
}
