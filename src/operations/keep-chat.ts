import { performance } from 'node:perf_hooks'
import type { KeyRights } from '../accounts/accounts.ts'
import type { App } from '../app/app.ts'
import {
  type Booking,
  type ChatChunk,
  type Message,
  type ReadyIterator,
  type RouteReport,
  readyIn,
  textOf,
} from '../chat/chat.ts'
import { type FailureCode, toAppError } from '../errors.ts'
import type { AnswerRecord } from '../personas/personas.ts'
import type { ChatOrder, ChatPlace, Finish, Keep, ReadyChat } from './chat-order.ts'
import type { ToolStream } from './chat-tools.ts'
import type { Call } from './operation.ts'

/** Whether a caller may keep chats: with an API key only where it opens sessions. */
export function mayKeep(key: KeyRights | undefined): boolean {
  return !key || key.scopes.includes('personas')
}

/** Characters of a question that a name is made of. */
const titleLength = 1_000

/** The title of a chat: the given one, else the question behind its files. */
export function titleOf({ title }: Keep, messages: readonly Message[]): string {
  if (title !== undefined) return title
  const content = messages.findLast(({ role }) => role === 'user')?.content
  const texts = Array.isArray(content) ? content.filter(({ type }) => type === 'text').slice(-1) : content
  return textOf(texts).slice(0, titleLength)
}

/** Keeps a chat without a persona and without a session. The area is opened once the answer is there, and delays none. */
export function keepPlain(
  { app, caller }: Pick<Call, 'app' | 'caller'>,
  messages: readonly Message[],
  { keep: order, toolTurn = false }: { readonly keep: Keep; readonly toolTurn: boolean | undefined },
): Finish {
  return async (answer, about) => {
    if (toolTurn && answer?.tool_calls) return undefined
    const { spokenMessages, withoutToolCalls } = await import('../personas/chat/conversation.ts')
    const turn = spokenMessages(toolTurn ? withoutToolCalls(messages) : messages)
    const keep = await app.keeping()
    const said = [...turn.map((message) => ({ message })), ...(answer ? [{ message: answer, ...about }] : [])]
    return keep(caller.id, { title: titleOf(order, messages), messages: said })
  }
}

/** The end of an answer, as far as it is known. */
interface Ending {
  readonly report: RouteReport
  readonly booking: Booking
  readonly calls?: ToolStream['calls'] | undefined
  readonly finish_reason?: string | null | undefined
  readonly cut?: true
}

export interface Saved {
  readonly warnings: readonly string[]
  readonly session?: ChatPlace
  /** Why it was not saved. */
  readonly unsaved?: FailureCode
}

/** Saves an exchange. A failure is a warning, since the answer is there already. */
export async function saveExchange(
  app: Pick<App, 'patiently'>,
  ready: ReadyChat,
  answer: Message,
  ending: Ending,
): Promise<Saved> {
  const cost = ending.booking.cost()?.cost_nano ?? undefined
  const about = { ...(cost !== undefined && { cost }), answer: recordOf(ready, ending) }
  try {
    const place = await app.patiently(async () => ready.finish?.(answer, about))
    return { warnings: [], ...(place && ready.order.keep && { session: { id: place.id, name: place.name } }) }
  } catch (reason) {
    const { message, code } = toAppError(reason)
    return { warnings: [`The exchange could not be saved: ${message}`], unsaved: code }
  }
}

/**
 * Passes chunks on and saves the exchange after the last one. With `keep`, where the reader leaves early, the answer so
 * far is saved and marked as cut, or the question alone where no word came. Where the provider breaks off, nothing is saved.
 */
export class SavedChunks implements ReadyIterator<ChatChunk> {
  readonly #app: Pick<App, 'patiently'>
  readonly #stream: ToolStream
  readonly #ready: ReadyChat
  readonly #signal: AbortSignal | undefined
  readonly #chunks: AsyncIterator<ChatChunk>
  readonly #seen: ChatChunk[] = []
  #isOver = false

  constructor(app: Pick<App, 'patiently'>, stream: ToolStream, ready: ReadyChat, signal: AbortSignal | undefined) {
    this.#app = app
    this.#stream = stream
    this.#ready = ready
    this.#signal = signal
    this.#chunks = stream.chunks[Symbol.asyncIterator]()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  ready(): ChatChunk | undefined {
    const chunk = this.#isOver ? undefined : readyIn(this.#chunks)
    if (chunk !== undefined) this.#seen.push(chunk)
    return chunk
  }

  /** Never: the exchange is saved before the end, and the last chunk need not wait for that. */
  isEnding(): boolean {
    return false
  }

  async next(): Promise<IteratorResult<ChatChunk>> {
    if (this.#isOver) return { done: true, value: undefined }
    try {
      const next = await this.#chunks.next()
      if (!next.done) {
        this.#seen.push(next.value)
        return next
      }
    } catch (reason) {
      this.#isOver = true
      if (this.#signal?.aborted) await this.#saveCut()
      throw reason
    }
    this.#isOver = true
    const facts = await this.#save()
    return facts ? { done: false, value: facts } : { done: true, value: undefined }
  }

  async return(): Promise<IteratorResult<ChatChunk>> {
    if (!this.#isOver) {
      this.#isOver = true
      await this.#chunks.return?.()
      await this.#saveCut()
    }
    return { done: true, value: undefined }
  }

  /** Saves the whole answer; the chunk that tells of it, where there is anything to tell. */
  async #save(): Promise<ChatChunk | undefined> {
    const last = this.#seen.at(-1)
    if (!last) return undefined
    const { report, booking, calls, answer: final } = this.#stream
    const { message, finish_reason } = await collected(this.#seen)
    const answer = final?.() ?? message ?? { role: 'assistant' as const, content: '' }
    const { warnings, ...place } = await saveExchange(this.#app, this.#ready, answer, {
      report,
      booking,
      calls,
      finish_reason,
    })
    const facts = { ...(warnings.length > 0 && { warnings }), ...place }
    return Object.keys(facts).length > 0 ? { ...last, choices: [], usage: null, aichat: facts } : undefined
  }

  async #saveCut(): Promise<void> {
    const { report, booking, calls } = this.#stream
    if (this.#ready.order.keep) await saveCut(this.#app, this.#ready, this.#seen, { report, booking, calls })
  }
}

async function saveCut(
  app: Pick<App, 'patiently'>,
  ready: ReadyChat,
  seen: readonly ChatChunk[],
  ending: Ending,
): Promise<void> {
  const text = textOf((await collected(seen)).message?.content)
  if (text.trim() === '') return saveQuestion(app, ready)
  await saveExchange(app, ready, { role: 'assistant', content: text }, { ...ending, cut: true })
}

/** With `keep`, saves the question of a chat whose reader left before the first word. A failure changes nothing for him. */
export async function saveQuestion(app: Pick<App, 'patiently'>, { order, finish }: ReadyChat): Promise<void> {
  if (order.keep) await app.patiently(async () => finish?.(undefined, { answer: {} })).catch(() => undefined)
}

async function collected(seen: readonly ChatChunk[]) {
  const { collectReply } = await import('../chat/protocol/chunks.ts')
  const [choice] = collectReply(seen).choices
  return { message: choice?.message, finish_reason: choice?.finish_reason }
}

function recordOf(
  { order, begun }: ReadyChat,
  { report, booking, calls = [], finish_reason, cut }: Ending,
): AnswerRecord {
  const { model, plugin, runner } = report
  const tokens = booking.cost()?.tokens
  const sent = sentOf(order)
  return {
    ...(cut && { cut }),
    model,
    ...(plugin !== null && { plugin }),
    ...(runner !== null && { runner }),
    ...(finish_reason && { finish_reason }),
    ...(tokens && { input_tokens: tokens.input, output_tokens: tokens.output }),
    duration_ms: Math.round(performance.now() - begun),
    ...(calls.length > 0 && { calls: calls.slice(0, mostCalls).map(keptCall) }),
    ...(Object.keys(sent).length > 0 && { sent }),
  }
}

/** Calls of tools in an answer that are recorded, and characters of their arguments and of their result. */
const mostCalls = 40
const longestArguments = 2_000
const longestResult = 5_000

type CallRecord = NonNullable<AnswerRecord['calls']>[number]

function keptCall({
  server,
  tool,
  state,
  arguments: given,
  result,
}: NonNullable<ToolStream['calls']>[number]): CallRecord {
  const within = (text: string, most: number) => (text.length <= most ? text : `${text.slice(0, most)} …`)
  return {
    server,
    tool,
    state: state as CallRecord['state'],
    arguments: within(given, longestArguments),
    ...(result !== undefined && { result: within(result, longestResult) }),
  }
}

/** Characters of a prompt, and of an option as JSON, that are recorded; options and tools that are. */
const longestPrompt = 4_000
const longestOption = 500
const mostOptions = 40

/** Fields of a request that are no parameters of the model, or stand elsewhere. */
const others = new Set(['messages', 'model', 'tools', 'stream', 'stream_options'])

function sentOf({ request, plugin, keep }: ChatOrder): NonNullable<AnswerRecord['sent']> {
  const { messages, model, tools = [] } = request
  const prompt = messages
    .filter(({ role }) => role === 'system' || role === 'developer')
    .map(({ content }) => textOf(content))
    .join('\n\n')
    .slice(0, longestPrompt)
  const options = Object.entries(request)
    .filter(([name, value]) => !others.has(name) && value !== undefined && value !== null)
    .filter(([, value]) => JSON.stringify(value).length <= longestOption)
    .slice(0, mostOptions)
  const { files = [] } = keep ?? {}
  return {
    ...(model !== undefined && { model }),
    ...(plugin !== undefined && { plugin }),
    ...(prompt !== '' && { prompt }),
    ...(options.length > 0 && { options: Object.fromEntries(options) }),
    ...(tools && tools.length > 0 && { tools: tools.slice(0, mostOptions).map(nameOf) }),
    ...(files.length > 0 && { files }),
  }
}

function nameOf(tool: unknown): string {
  const { function: called, type } = tool as {
    readonly function?: { readonly name?: unknown }
    readonly type?: unknown
  }
  return String(called?.name ?? type ?? 'tool').slice(0, longestOption)
}
