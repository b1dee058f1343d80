import { randomUUID } from 'node:crypto'
import { heavyValue, joinInTurns, weightOf, writeJson } from '../formats/formats.ts'
import type { HttpResponse, Send, Timeouts } from '../http/http.ts'
import type { ModelFacts, PluginManifest } from '../plugins/plugins.ts'
import type { HeavyWork } from '../process/process.ts'
import { summaryRequest } from './dialects/responses/compaction.ts'
import { forPlace } from './dialects/responses/placement.ts'
import type { OpenReasoning } from './dialects/responses/reasoning.ts'
import { sensesOf, withoutUnseen } from './dialects/unseen-media.ts'
import { unsupportedFields } from './dialects/unsupported.ts'
import type { KeyPool } from './key-pool.ts'
import { type Dialect, DialectError } from './protocol/dialect.ts'
import type { ChatChunk, ChatReply, ChatRequest } from './protocol/messages.ts'
import { keepSource } from './protocol/source.ts'
import { ReadChunks } from './read-chunks.ts'

/** The figures that the providers' own clients and gateways use, shortened where a person waits: 10 minutes in all. */
export const defaultTimeouts: Timeouts = { connect: 5_000, firstByte: 60_000, idle: 60_000, total: 600_000 }

/** The longest answer that is read whole, and the longest error body: bytes. */
const replyLimit = 32 * 1024 * 1024
const errorLimit = 256 * 1024

/** A provider's answer with an error status, with the data to classify it. */
export class RefusedReply extends Error {
  override readonly name = 'RefusedReply'
  readonly status: number
  readonly headers: HttpResponse['headers']
  readonly error: ReturnType<Dialect['readError']>

  constructor(reply: HttpResponse, error: ReturnType<Dialect['readError']>) {
    super(error?.message ?? `status ${reply.status}`)
    this.status = reply.status
    this.headers = reply.headers
    this.error = error
  }
}

/**
 * One place that answers chats: a plugin with one of its models, or a local runner with one of its own.
 * `endsAt` is the moment, in milliseconds on the monotonic clock, when a request's time is over.
 */
export interface Target {
  /** The plugin's id, or null for the local runner. */
  readonly plugin: string | null
  readonly runner: string | null
  readonly model: string
  /** The address that it sends to; undefined for one that computes in this process. */
  readonly endpoint?: string
  /** Tokens of a request and its answer; undefined where nobody has said. */
  readonly contextTokens?: number | undefined
  readonly timeouts: Timeouts
  readonly retry: { readonly attempts: number; readonly budgetMs: number }
  /** Changes with the target's configuration, which resets its circuit. */
  readonly identity: unknown
  ask(request: ChatRequest, signal?: AbortSignal, endsAt?: number, user?: string, key?: string): Promise<ChatReply>
  /** The answer's chunks. Resolves when the provider has accepted the request; the iteration throws when it breaks off. */
  stream(
    request: ChatRequest,
    signal?: AbortSignal,
    endsAt?: number,
    user?: string,
    key?: string,
  ): Promise<AsyncIterable<ChatChunk>>
  /** The plugin's keys where it has several: `ask` and `stream` get the one to use. */
  readonly keys?: (() => KeyPool | undefined) | undefined
  /** Advice for a key that the provider refused; absent where no key is needed. */
  readonly refusedAdvice?: (key?: string) => string
  /** The parts that the request as sent last, or shown by `preview`, left out, one sentence each; see unsupported.ts. */
  leftOut(request: ChatRequest): readonly string[]
  /** The request that would go out, without its key: for `--dry-run`. */
  preview(
    request: ChatRequest,
    streamed: boolean,
  ): { readonly url: string; readonly headers: Record<string, string>; readonly body: unknown }
}

export interface HttpTargetParts {
  readonly manifest: PluginManifest
  readonly model: string
  readonly runner: string | null
  readonly dialect: Dialect
  readonly send: Send
  /** The header with the key of that variable, by default the first that is set. */
  readonly keyHeader: (url: string, key?: string) => Record<string, string> | Promise<Record<string, string>>
  readonly keys?: (() => KeyPool | undefined) | undefined
  readonly refusedAdvice: (key?: string) => string
  /** The model's facts, as far as they are known at the moment; by default none is. */
  readonly facts?:
    | (() => { readonly [name in 'context_window' | 'images' | 'audio']?: ModelFacts[name] | undefined })
    | undefined
  /** Opens the reasoning that this place gave a user; by default none is known. */
  readonly openReasoning?: ((user: string | undefined) => OpenReasoning) | undefined
}

/** A target that is reached over HTTP in one of the dialects. */
export function httpTarget({
  manifest,
  model,
  runner,
  dialect,
  send,
  keyHeader,
  keys,
  refusedAdvice,
  facts = () => ({}),
  openReasoning = () => () => undefined,
}: HttpTargetParts): Target {
  const { connect, first_byte: firstByte, idle, total } = manifest.timeouts ?? {}
  const timeouts: Timeouts = {
    connect: connect ?? defaultTimeouts.connect,
    firstByte: firstByte ?? defaultTimeouts.firstByte,
    idle: idle ?? defaultTimeouts.idle,
    total: total ?? defaultTimeouts.total,
  }
  const ownHeaders = Object.fromEntries(
    Object.entries(manifest.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  )
  /** What the requests sent left out, by the requests asked for; most left out nothing. */
  const leftOut = new WeakMap<ChatRequest, readonly string[]>()
  return {
    plugin: runner === null ? manifest.id : null,
    runner,
    model,
    endpoint: manifest.endpoint,
    get contextTokens() {
      return facts().context_window
    },
    timeouts,
    retry: { attempts: manifest.retry?.attempts ?? 2, budgetMs: manifest.retry?.budget_ms ?? 10_000 },
    identity: manifest,
    keys,
    async ask(request, signal, endsAt, user, key) {
      const first = await post(wire(request, false, user), signal, endsAt, user, key)
      const instead = isGood(first) ? undefined : summaryRequest(request, first.status)
      if (instead) first.discard()
      const reply = instead ? await post(wire(instead, false, user), signal, endsAt, user, key) : first
      if (!isGood(reply)) throw await refusalOf(reply)
      const text = await reply.text(replyLimit)
      const body = parseBody(text)
      const answer = dialect.readResponse(body)
      if (answer.model === '' || answer.id === '') return named(answer, madeId())
      // A text that begins otherwise has a mark or blank lines before it.
      return (answer as unknown) === body && text.startsWith('{') ? keepSource(answer, text) : answer
    },
    async stream(request, signal, endsAt, user, key) {
      const reply = await post(wire(request, true, user), signal, endsAt, user, key)
      if (!isGood(reply)) throw await refusalOf(reply)
      return chunksOf(reply)
    },
    refusedAdvice,
    leftOut: (request) => leftOut.get(request) ?? nothingLeftOut,
    preview(request, streamed) {
      const { url, headers, body } = wire(request, streamed)
      return {
        url,
        headers: {
          ...headers,
          ...(manifest.auth.header && {
            [manifest.auth.header.toLowerCase()]: `${manifest.auth.prefix ?? ''}[${manifest.auth.key_env}]`,
          }),
        },
        body,
      }
    },
  }

  function wire(
    asked: ChatRequest,
    streamed: boolean,
    user?: string,
  ): { url: string; headers: Record<string, string>; body: Readonly<Record<string, unknown>> } {
    const isOwn = asked.extra_content !== undefined
    const request = isOwn ? forPlace(asked, dialect.id, manifest.endpoint, openReasoning(user)) : asked
    // Providers send the token counts of a stream only on request; the dialect's writer drops them for other clients.
    const counted = streamed && { stream_options: { ...request.stream_options, include_usage: true } }
    const own: Pick<ChatRequest, 'model' | 'stream'> = { model, stream: streamed, ...counted }
    // V8 makes a hidden class again, in old space, for each object that begins with a spread and has more than it: this one
    // begins with a field of its own.
    const seen = withoutUnseen({ stream: streamed, ...request, ...own }, dialect.id, sensesOf(facts()))
    const { url, headers, body } = dialect.writeRequest(seen.request, manifest.endpoint, manifest.quirks)
    const warnings = [...seen.warnings, ...unsupportedFields(seen.request, dialect.id, body)]
    if (warnings.length > 0) leftOut.set(asked, warnings)
    const all: Record<string, string> = { 'content-type': 'application/json' }
    for (const name in headers) all[name.toLowerCase()] = headers[name]!
    // A list: the betas of the client, and those of the plugin.
    const betas = [all['anthropic-beta'], ownHeaders['anthropic-beta']].filter(Boolean).join(',')
    return { url, headers: Object.assign(all, ownHeaders, betas && { 'anthropic-beta': betas }), body }
  }

  /** Not `async`, and so without a promise of its own on the way of every chat: a failure may be thrown at once. */
  function post(
    request: { url: string; headers: Record<string, string>; body: unknown },
    signal?: AbortSignal,
    endsAt?: number,
    user?: string,
    key?: string,
  ): Promise<HttpResponse> {
    const { body } = request
    if (weightOf(body, heavyValue) <= heavyValue) return sendBody(request, JSON.stringify(body), signal, endsAt, key)
    const work = { user, isOver: () => signal?.aborted === true }
    return heavyBytes(body, work).then((bytes) => sendBody(request, bytes, signal, endsAt, key))
  }

  function sendBody(
    { url, headers }: { url: string; headers: Record<string, string> },
    body: string | Uint8Array,
    signal: AbortSignal | undefined,
    endsAt: number | undefined,
    key: string | undefined,
  ): Promise<HttpResponse> {
    const sendWith = (keyed: Record<string, string>) =>
      send({ method: 'POST', url, headers: Object.assign(headers, keyed), body, timeouts, signal, endsAt })
    const keyed = keyHeader(url, key)
    return keyed instanceof Promise ? keyed.then(sendWith) : sendWith(keyed)
  }

  async function refusalOf(reply: HttpResponse): Promise<Error> {
    if (reply.status < 200 || reply.status >= 400) return new RefusedReply(reply, await readRefusal(reply))
    reply.discard()
    return new DialectError('broken', {
      message: `answered with a redirect (${reply.status}), which is never followed`,
    })
  }

  async function readRefusal(reply: HttpResponse): Promise<ReturnType<Dialect['readError']>> {
    try {
      return dialect.readError(JSON.parse(await reply.text(errorLimit)))
    } catch {
      // An HTML page, a body too long, a connection that broke: the status is enough.
      return undefined
    }
  }

  function chunksOf(reply: HttpResponse): AsyncIterable<ChatChunk> {
    let id: string | undefined
    return new ReadChunks(reply, dialect.createStreamReader(), {
      // Gemini counts tokens in events after its end: there the body's end is the end.
      mayGoOn: dialect.id === 'gemini',
      named(chunk) {
        if (chunk.model !== '' && chunk.id !== '') return chunk
        id ??= madeId()
        return named(chunk, id)
      },
    })
  }

  /** Where a provider names no model, it was the one asked; clients tell answers apart by their ids, so each has one. */
  function named<Answer extends ChatChunk | ChatReply>(answer: Answer, id: string): Answer {
    if (answer.model !== '' && answer.id !== '') return answer
    return { ...answer, model: answer.model || model, id: answer.id || id }
  }
}

const nothingLeftOut: readonly string[] = []

function madeId(): string {
  return `chatcmpl-${randomUUID()}`
}

/** A request of megabytes, such as one with pictures: written while others have their turns. */
async function heavyBytes(body: unknown, work: HeavyWork): Promise<Uint8Array> {
  const { pieces, length } = await writeJson(body, work)
  return joinInTurns(pieces, length, work)
}

function isGood({ status }: HttpResponse): boolean {
  return status >= 200 && status < 300
}

/** Providers send blank lines to keep a slow answer's connection alive: they are no part of it. */
function parseBody(text: string): unknown {
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  } catch (cause) {
    const page = /^\s*</.test(text)
    throw new DialectError(
      'broken',
      { message: page ? 'answered with a web page instead of JSON' : 'answered with something that is not JSON' },
      { cause },
    )
  }
}
