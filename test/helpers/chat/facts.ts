import type { Dialect } from '../../../src/chat/protocol/dialect.ts'
import type { ChatReply } from '../../../src/chat/protocol/messages.ts'

/**
 * The facts of a provider's answer, read from its bytes without any code under test: the measure for everything read,
 * written and converted. Usage is OpenAI's count: cached tokens within the prompt, thoughts within the completion.
 */
export interface Facts {
  readonly choices: readonly ChoiceFacts[]
  readonly usage: { readonly prompt: number; readonly completion: number } | undefined
}

export interface ChoiceFacts {
  /** Every word for the user, refusals included. */
  readonly text: string
  readonly calls: readonly { readonly name: string; readonly input: unknown }[]
  readonly finish: string
}

/** Untrusted JSON: a wrong path into it fails the test. */
type Json = ReturnType<typeof JSON.parse>

/** The facts of an answer in a dialect, whole or streamed. */
export function factsOf(id: Dialect['id'], answer: Buffer, streamed: boolean): Facts {
  const text = answer.toString('utf8')
  const pieces = streamed ? piecesOf(text) : [JSON.parse(text)]
  if (id === 'openai-chat') return streamed ? openaiStream(pieces) : openaiReply(pieces[0])
  if (id === 'openai-responses') return streamed ? responsesStream(pieces) : responsesReply(pieces[0])
  if (id === 'anthropic-messages') return streamed ? anthropicStream(pieces) : anthropicReply(pieces[0])
  return id === 'gemini' ? geminiPieces(pieces) : ollamaPieces(pieces)
}

/** Failures of an answer under a 2xx status: reported by the provider, unreadable, or without an end. */
export type FailureKind = 'reported' | 'broken' | 'cut'

/**
 * The ways in which an answer under a 2xx status fails, one of which must be reported; none where it is whole. An error
 * stands in the body or in a piece of the stream; a second message that begins inside the first is no stream of Anthropic's.
 */
export function failuresIn(id: Dialect['id'], answer: Buffer, streamed: boolean): readonly FailureKind[] {
  const text = answer.toString('utf8')
  let pieces: Json[]
  try {
    pieces = streamed ? piecesOf(text) : [JSON.parse(text)]
  } catch {
    return ['broken', 'cut']
  }
  if (pieces.some((piece) => Boolean(piece?.error) || piece?.choices?.some((choice: Json) => choice.error)))
    return ['reported']
  if (id === 'openai-responses' && pieces.some((piece) => hasFailed(piece) || hasFailed(piece.response)))
    return ['reported']
  if (isSpliced(id, text)) return ['broken']
  return streamed && !hasEnded(id, text) ? ['cut'] : []
}

/** Whether a response object tells that it failed. */
function hasFailed(response: Json): boolean {
  return response?.status === 'failed' || response?.status === 'cancelled'
}

/** Whether the received part of a stream holds the begin of a second message. */
export function isSpliced(id: Dialect['id'], text: string): boolean {
  return id === 'anthropic-messages' && (text.match(/"type":\s*"message_start"/g)?.length ?? 0) > 1
}

/** The facts of an answer in our own shape. */
export function factsOfReply(reply: ChatReply): Facts {
  return openaiReply(JSON.parse(JSON.stringify(reply)))
}

/**
 * Whether the received part of a stream holds the dialect's own end: a finish reason for every choice begun, `message_stop`,
 * or `done`. The text may break off in the middle of a piece, which then does not count.
 */
export function hasEnded(id: Dialect['id'], text: string): boolean {
  let pieces: Json[]
  try {
    pieces = piecesOf(text)
  } catch {
    return false
  }
  if (id === 'anthropic-messages') return pieces.some((piece) => piece.type === 'message_stop')
  if (id === 'openai-responses') return pieces.some((piece) => lastEvents.includes(piece.type))
  if (id === 'ollama') return pieces.some((piece) => piece.done === true)
  const begun = new Map<number, boolean>()
  for (const piece of pieces) {
    if (piece.promptFeedback?.blockReason) begun.set(0, true)
    for (const { index = 0, finish_reason: ours, finishReason = ours } of piece.choices ?? piece.candidates ?? [])
      begun.set(index, begun.get(index) || Boolean(finishReason && finishReason !== 'FINISH_REASON_UNSPECIFIED'))
  }
  return begun.size > 0 && [...begun.values()].every(Boolean)
}

/** The JSON values of a stream of events, of lines, or of one array. Throws where one is broken off. */
function piecesOf(text: string): Json[] {
  if (text.trimStart().startsWith('[')) return JSON.parse(text.replace(/\]?,?\s*$/, ']'))
  const plain = text.replace(/^\uFEFF/, '').replace(/\r\n|\r/g, '\n')
  const isEvents = /^data:/m.test(plain)
  const values = isEvents ? plain.split(/\n{2,}/).map(dataOf) : plain.split('\n')
  return values.filter((value) => value.trim() !== '' && value !== '[DONE]').map((value) => JSON.parse(value))
}

function dataOf(event: string): string {
  const lines = event.split('\n').filter((line) => line.startsWith('data:'))
  return lines.map((line) => line.slice(5).trim()).join('\n')
}

function inputOf(text: string | undefined): unknown {
  if (!text?.trim()) return {}
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const openaiNames: Record<string, string> = { function_call: 'tool_calls', model_length: 'length' }
const openaiKnown = ['stop', 'length', 'tool_calls', 'content_filter', 'error']

/** An unknown reason counts as `stop`; calls without a reason count as `tool_calls`. */
function openaiFinish(reason: string | null | undefined, calls: number): string {
  if (!reason) return calls > 0 ? 'tool_calls' : 'stop'
  const name = openaiNames[reason] ?? reason
  return openaiKnown.includes(name) ? name : 'stop'
}

function openaiUsage(usage: Json): Facts['usage'] {
  return usage ? { prompt: usage.prompt_tokens ?? 0, completion: usage.completion_tokens ?? 0 } : undefined
}

function openaiText(content: Json): string {
  if (!Array.isArray(content)) return content ?? ''
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

function openaiReply(body: Json): Facts {
  const choices = body.choices.map(({ message = {}, finish_reason: reason }: Json) => {
    const legacy = message.function_call ? [{ function: message.function_call }] : []
    const wire = message.tool_calls?.length ? message.tool_calls : legacy
    const calls = wire.map(openaiCall)
    return {
      text: openaiText(message.content) + (message.refusal ?? ''),
      calls,
      finish: openaiFinish(reason, calls.length),
    }
  })
  return { choices, usage: openaiUsage(body.usage ?? body.x_groq?.usage) }
}

function openaiCall({ function: wire }: Json): { name: string; input: unknown } {
  return { name: wire.name, input: typeof wire.arguments === 'string' ? inputOf(wire.arguments) : wire.arguments }
}

function openaiStream(pieces: Json[]): Facts {
  const choices: Json[] = []
  let usage: Json
  for (const piece of pieces) {
    usage = piece.usage ?? piece.x_groq?.usage ?? usage
    for (const { index, delta, finish_reason: finish } of piece.choices ?? []) {
      choices[index] ??= { text: '', calls: [], finish: null }
      const choice = choices[index]
      choice.text += openaiText(delta?.content) + (delta?.refusal ?? '')
      const legacy = delta?.function_call && !delta.tool_calls ? [{ index: 0, function: delta.function_call }] : []
      for (const piece of delta?.tool_calls ?? legacy) addPiece(choice.calls, piece)
      if (finish) choice.finish ??= openaiFinish(finish, 0)
    }
  }
  const facts = choices.filter(Boolean).map((choice) => ({
    ...choice,
    calls: choice.calls.map(({ name, input }: Json) => ({ name, input: inputOf(input) })),
  }))
  return { choices: facts, usage: openaiUsage(usage) }
}

/**
 * Adds a piece to the call that it belongs to, or begins one. Indices need not begin at 0; Gemini's compatible service gives
 * every call the index 0 and tells them apart by their ids.
 */
function addPiece(calls: Json[], { index = 0, id, function: wire }: Json): void {
  const begun = calls.findLast((call) => call.index === index && (!id || call.id === id || !wire?.name))
  const call = begun ?? { index, id, name: '', input: '' }
  if (!begun) calls.push(call)
  call.name ||= wire?.name ?? ''
  call.input += wire?.arguments ?? ''
}

const lastEvents = ['response.completed', 'response.incomplete', 'response.failed']

/** The items that ended in the stream, in the place of those that the last event may leave out. */
function responsesStream(pieces: Json[]): Facts {
  const output: Json[] = []
  for (const { type, item, output_index: index } of pieces)
    if (type === 'response.output_item.done') output[index ?? output.length] = item
  const { response } = pieces.find(({ type }) => lastEvents.includes(type))
  return responsesReply({ ...response, output: output.length > 0 ? output.filter(Boolean) : response.output })
}

function responsesReply({ status, incomplete_details: details, output, usage }: Json): Facts {
  const parts = output.flatMap((item: Json) => (item.type === 'message' ? item.content : []))
  const text = output
    .filter((item: Json) => item.type === 'message')
    .map(({ content }: Json) => content.map((part: Json) => (part.type === 'output_text' ? part.text : '')).join(''))
    .join('')
  const refusal = parts.map((part: Json) => part.refusal ?? '').join('')
  const calls = output.flatMap((item: Json) => {
    if (item.type === 'custom_tool_call') return [{ name: item.name, input: { input: item.input } }]
    if (item.type !== 'function_call') return []
    const name = item.namespace ? `${item.namespace}__${item.name}` : item.name
    return [{ name, input: inputOf(item.arguments) }]
  })
  const whole = calls.length > 0 ? 'tool_calls' : 'stop'
  const cut = details?.reason === 'content_filter' ? 'content_filter' : 'length'
  const counts = usage ? { prompt: usage.input_tokens, completion: usage.output_tokens } : undefined
  return { choices: [{ text: text + refusal, calls, finish: status === 'incomplete' ? cut : whole }], usage: counts }
}

const anthropicNames: Record<string, string> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
  error: 'error',
}

function anthropicUsage(usage: Json): Facts['usage'] {
  const cached = (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0)
  return { prompt: (usage.input_tokens ?? 0) + cached, completion: usage.output_tokens ?? 0 }
}

function anthropicReply(body: Json): Facts {
  const text = body.content.map((block: Json) => (block.type === 'text' ? block.text : '')).join('')
  const calls = body.content
    .filter((block: Json) => block.type === 'tool_use')
    .map(({ name, input }: Json) => ({ name, input }))
  const why = body.stop_reason === 'refusal' ? (body.stop_details?.explanation ?? '') : ''
  return {
    choices: [{ text: text + why, calls, finish: anthropicNames[body.stop_reason] ?? 'stop' }],
    usage: anthropicUsage(body.usage),
  }
}

function anthropicStream(pieces: Json[]): Facts {
  const blocks: Json[] = []
  let usage: Json = {}
  let stop = ''
  let details: Json
  for (const piece of pieces) {
    const { type, index, delta } = piece
    if (type === 'message_start') usage = piece.message.usage
    if (type === 'content_block_start') blocks[index] = { json: '', ...piece.content_block }
    if (delta?.type === 'text_delta') blocks[index].text += delta.text
    if (delta?.type === 'input_json_delta') blocks[index].json += delta.partial_json
    if (type === 'message_delta') {
      stop = delta.stop_reason
      details = delta.stop_details
      usage = { ...usage, ...piece.usage }
    }
  }
  const content = blocks.map(({ json, ...block }) =>
    block.type === 'tool_use' ? { ...block, input: inputOf(json) } : block,
  )
  return anthropicReply({ content, stop_reason: stop, stop_details: details, usage })
}

const geminiFiltered = [
  ...['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'MODEL_ARMOR', 'LANGUAGE'],
  ...['IMAGE_SAFETY', 'IMAGE_PROHIBITED_CONTENT', 'IMAGE_RECITATION'],
]

function geminiFinish(reason: string | undefined, calls: number): string {
  if (reason === undefined || reason === 'STOP') return calls > 0 ? 'tool_calls' : 'stop'
  if (reason === 'MAX_TOKENS') return 'length'
  return geminiFiltered.includes(reason) ? 'content_filter' : 'error'
}

function geminiPieces(pieces: Json[]): Facts {
  const choices: Json[] = []
  let usage: Json
  for (const piece of pieces) {
    usage = piece.usageMetadata ?? usage
    if (piece.promptFeedback?.blockReason && !piece.candidates) choices[0] ??= { text: '', calls: [], reason: 'SAFETY' }
    for (const [position, candidate] of (piece.candidates ?? []).entries()) {
      const index = candidate.index ?? position
      choices[index] ??= { text: '', calls: [] }
      for (const part of candidate.content?.parts ?? []) {
        if (part.text !== undefined && !part.thought) choices[index].text += part.text
        if (part.functionCall)
          choices[index].calls.push({ name: part.functionCall.name, input: part.functionCall.args ?? {} })
      }
      if (candidate.finishReason !== 'FINISH_REASON_UNSPECIFIED')
        choices[index].reason = candidate.finishReason ?? choices[index].reason
    }
  }
  const counts = usage && {
    prompt: (usage.promptTokenCount ?? 0) + (usage.toolUsePromptTokenCount ?? 0),
    completion: (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0),
  }
  return {
    choices: choices.map(({ text, calls, reason }) => ({ text, calls, finish: geminiFinish(reason, calls.length) })),
    usage: counts,
  }
}

function ollamaPieces(pieces: Json[]): Facts {
  const text = pieces.map((piece) => piece.message?.content ?? '').join('')
  const calls = pieces
    .flatMap((piece) => piece.message?.tool_calls ?? [])
    .map((call) => ({ name: call.function.name, input: call.function.arguments ?? {} }))
  const last = pieces.at(-1)
  const named = ['length', 'content_filter', 'error'].includes(last.done_reason) && last.done_reason
  const finish = named || (calls.length > 0 ? 'tool_calls' : 'stop')
  const told = last.prompt_eval_count !== undefined || last.eval_count !== undefined
  const usage = told ? { prompt: last.prompt_eval_count ?? 0, completion: last.eval_count ?? 0 } : undefined
  return { choices: [{ text, calls, finish }], usage }
}
