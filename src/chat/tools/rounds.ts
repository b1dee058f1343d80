import { escapedJson } from '../../formats/formats.ts'
import { collectReply } from '../protocol/chunks.ts'
import { mediaNames } from '../protocol/media.ts'
import { type ChatChunk, type Message, type Tool, textOf, type Usage } from '../protocol/messages.ts'
import type { Booking } from '../route-report.ts'
import type { ChatCall, RoutedReply, RoutedStream, Router } from '../router.ts'
import { mostRounds, type Toolbox, type ToolStep } from './toolbox.ts'

/**
 * A chat with tools that are called here, in rounds: each round is a request of its own, within the limits, and booked.
 */
export interface ToolChat {
  readonly router: Pick<Router, 'complete' | 'stream'>
  readonly call: ChatCall
  readonly toolbox: Toolbox
  readonly tools: readonly Tool[]
  readonly signal?: AbortSignal | undefined
  /** Puts a chunk without choices into the stream for each step of a call, see `chunkOf`. */
  readonly showsSteps?: boolean | undefined
}

/** The last round, and the accounts and calls of all: a stream has those so far. */
interface Rounds {
  readonly bookings: readonly Booking[]
  readonly calls: readonly ShownCall[]
}

/** A step of a call for people: in its arguments, JSON, nothing is invisible, since a person decides by them. */
export interface ShownCall extends Omit<ToolStep['call'], 'pin' | 'arguments'>, Pick<ToolStep, 'state'> {
  readonly arguments: string
  /** At its end; pictures and files by their kind alone. */
  readonly result?: string
}

/** Asks until the model answers without calling a tool, and after `mostRounds` without offering any. */
export async function completeRounds({
  router,
  call,
  toolbox,
  tools,
  signal,
}: ToolChat): Promise<RoutedReply & Rounds> {
  const more: Message[] = []
  const bookings: Booking[] = []
  const made: ShownCall[] = []
  for (let round = 0; ; round++) {
    const isLast = round === mostRounds
    const routed = await router.complete(roundOf(call, tools, more, isLast), signal)
    bookings.push(routed.booking)
    const { message } = routed.reply.choices[0] ?? {}
    const calls = message?.tool_calls ?? []
    if (isLast || calls.length === 0) return { ...routed, bookings, calls: made }
    const steps = toolbox.steps(calls, signal)
    let step = await steps.next()
    for (; !step.done; step = await steps.next()) if (isOver(step.value)) made.push(shownCall(step.value))
    more.push(message!, ...step.value)
  }
}

/** The same as one stream: the texts of all rounds without calls. `answer` is the last round's message at the end. */
export async function streamRounds(chat: ToolChat): Promise<RoutedStream & Rounds & { answer(): Message | undefined }> {
  const { router, call, tools, signal } = chat
  const first = await router.stream(roundOf(call, tools, [], false), signal)
  const bookings: Booking[] = [first.booking]
  const calls: ShownCall[] = []
  let answer: Message | undefined
  const chunks = roundChunks(
    chat,
    first,
    calls,
    (stream) => bookings.push(stream.booking),
    (message) => {
      answer = message
    },
  )
  return { ...first, chunks, bookings, calls, answer: () => answer }
}

async function* roundChunks(
  { router, call, toolbox, tools, signal, showsSteps = false }: ToolChat,
  first: RoutedStream,
  made: ShownCall[],
  onRound: (stream: RoutedStream) => void,
  onAnswer: (message: Message | undefined) => void,
): AsyncGenerator<ChatChunk> {
  const more: Message[] = []
  let stream = first
  let id: string | undefined
  let usage: Usage | undefined
  for (let round = 0; ; round++) {
    const seen: ChatChunk[] = []
    const held: ChatChunk[] = []
    for await (const chunk of stream.chunks) {
      id ??= chunk.id
      seen.push(chunk)
      if (isHeld(chunk)) held.push(chunk)
      else yield { ...chunk, id }
    }
    const { choices, usage: used } = collectReply(seen)
    usage = sumOf(usage, used)
    const { message } = choices[0] ?? {}
    const calls = message?.tool_calls ?? []
    if (round === mostRounds || calls.length === 0) {
      onAnswer(message)
      for (const chunk of held) yield { ...chunk, id: id!, ...(chunk.usage && usage && { usage }) }
      return
    }
    const steps = toolbox.steps(calls, signal)
    let step = await steps.next()
    for (; !step.done; step = await steps.next()) {
      const shown = shownCall(step.value)
      if (isOver(shown)) made.push(shown)
      if (showsSteps) yield chunkOf(shown, seen.at(-1)!, id!)
    }
    more.push(message!, ...step.value)
    if (message?.content) yield breakAfter(seen.at(-1)!, id!)
    stream = await router.stream(roundOf(call, tools, more, round + 1 === mostRounds), signal)
    onRound(stream)
  }
}

/** A chunk that is shown only if its round turns out to be the last. */
function isHeld({ choices, usage }: ChatChunk): boolean {
  return usage != null || choices.some(({ delta, finish_reason }) => delta.tool_calls || finish_reason !== null)
}

function isOver({ state }: Pick<ToolStep, 'state'>): boolean {
  return state !== 'asks' && state !== 'runs'
}

function shownCall({ call, state, result }: ToolStep): ShownCall {
  const { pin: _, arguments: given, ...asked } = call
  const shown =
    typeof result === 'string'
      ? result
      : result?.map((part) => (part.type === 'text' ? textOf([part]) : `[${mediaNames(part).one}]`)).join('\n')
  return { ...asked, state, arguments: escapedJson(JSON.stringify(given)), ...(shown && { result: shown }) }
}

function chunkOf(tool: ShownCall, { created, model }: ChatChunk, id: string): ChatChunk {
  return { id, object: 'chat.completion.chunk', created, model, choices: [], usage: null, aichat: { tool } }
}

/** Parts the texts of two rounds. */
function breakAfter({ created, model }: ChatChunk, id: string): ChatChunk {
  const choices = [{ index: 0, delta: { content: '\n\n' }, finish_reason: null }]
  return { id, object: 'chat.completion.chunk', created, model, choices }
}

function roundOf(call: ChatCall, tools: readonly Tool[], more: readonly Message[], isLast: boolean): ChatCall {
  const { request } = call
  const messages = [...request.messages, ...more]
  return { ...call, request: { ...request, messages, tools, ...(isLast && { tool_choice: 'none' as const }) } }
}

function sumOf(before: Usage | undefined, { ...more }: Usage | undefined = {} as Usage): Usage | undefined {
  if (!before) return more.total_tokens === undefined ? undefined : more
  const sum = (field: 'prompt_tokens' | 'completion_tokens' | 'total_tokens') => before[field] + (more[field] ?? 0)
  return {
    ...before,
    ...more,
    prompt_tokens: sum('prompt_tokens'),
    completion_tokens: sum('completion_tokens'),
    total_tokens: sum('total_tokens'),
  }
}
