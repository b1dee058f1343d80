import {
  type ChatRequest,
  type Dialect,
  httpTarget,
  isCloudName,
  isObject,
  type JsonObject,
  neededTokens,
  type OpenReasoning,
  objectOf,
  type Target,
} from '../chat/chat.ts'
import { AppError } from '../errors.ts'
import type { Send } from '../http/http.ts'
import { factsOfShow, type PluginManifest } from '../plugins/plugins.ts'

/** A model that is installed in the runner on this machine. */
export interface LocalModel {
  readonly name: string
  readonly embedding: boolean
  /** True for a model that the runner forwards to a remote service (https://docs.ollama.com/cloud). */
  readonly remote: boolean
  /** The runner's own row about it, unchecked beyond its name. */
  readonly row: JsonObject
}

export type OllamaRunner = ReturnType<typeof createOllamaRunner>

export interface OllamaParts {
  /** Such as http://127.0.0.1:11434. */
  readonly url: string
  readonly preferred: string | undefined
  readonly send: Send
  readonly dialect: Dialect
  /** Opens the reasoning that a model here gave a user; by default none is known. */
  readonly openReasoning?: (user: string | undefined, model: string) => OpenReasoning
  /** The window in tokens that a refusal of today showed. */
  readonly learned?: (model: string) => number | undefined
  /** Milliseconds, monotonic. */
  readonly now: () => number
}

/** Milliseconds: a burst of requests asks once, and a model just pulled is found. */
const listAge = 3_000

/** Milliseconds until the first byte: reading a large model from disk takes minutes. The runner's own limit. */
const loadingMs = 300_000

/** Milliseconds: a runner on this machine lists its models at once or is not running. */
const listTimeouts = { connect: 1_000, firstByte: 3_000, idle: 3_000 }

/** Milliseconds: between two lines of a pull the runner may check gigabytes. */
const pullTimeouts = { connect: 1_000, firstByte: 60_000, idle: 300_000 }

/** The longest line of a pull: characters. */
const longestLine = 64 * 1024

/** The context window that Ollama gives a model by default, in tokens (https://docs.ollama.com/context-length). */
const usualWindow = 4_096
/** The largest window that is asked for on this machine: the cache of a model of 8 billion parameters takes 4 GiB there. */
const largestWindow = 32_768

/**
 * Embedding models by name, for runners that do not list capabilities: the specification's patterns and the families that
 * the runner's own documentation recommends (https://docs.ollama.com/capabilities/embeddings).
 */
const embeddingName =
  /(?:^|[/_-])(?:nomic-embed|bge-|gte-|multilingual-e5|e5-|mxbai-embed|snowflake-arctic-embed|all-minilm|paraphrase-|embeddinggemma|granite-embedding|qwen3-embedding|jina-embeddings?)|embed/i

/** Whether a model's name is that of an embedding model. */
export function isEmbeddingName(name: string): boolean {
  return embeddingName.test(name)
}

/** The local runner over Ollama's HTTP API (https://github.com/ollama/ollama/blob/main/docs/api.md). */
export function createOllamaRunner({
  url,
  preferred,
  send,
  dialect,
  openReasoning,
  learned = () => undefined,
  now,
}: OllamaParts) {
  let known: { readonly at: number; readonly models: Promise<readonly LocalModel[] | undefined> } | undefined
  const targets = new Map<string, Target>()
  const windows = new Map<string, Promise<number | undefined>>()

  return {
    url,
    models,
    /** The runner's rows about the models in its memory, unchecked beyond their names; none when no runner answers. */
    running: async () => rowsIn(await read('ps')) ?? [],
    /** The runner's own facts about a model, unchecked; undefined when no runner answers or it has no such model. */
    async show(model: string): Promise<JsonObject | undefined> {
      const answer = await read('show', { model })
      return isObject(answer) ? answer : undefined
    },
    /**
     * The target of a chat: the requested model if it is installed, else the preferred one, else the first chat model
     * that computes on this machine. Undefined when no runner answers or it has no such model. With `hereOnly` a model
     * that the runner forwards to a remote service is never the target.
     */
    async target(asked: string | undefined, hereOnly = false): Promise<Target | undefined> {
      const chat = (await models())?.filter(({ embedding, remote }) => !embedding && !(hereOnly && remote))
      if (!chat) return undefined
      const names = chat.map((model) => model.name)
      // A fallback must not send a conversation to a remote service unasked.
      const here = chat.find((model) => !model.remote)?.name
      const name = installed(names, asked) ?? installed(names, preferred) ?? here
      return name === undefined ? undefined : targetFor(name, await windowOf(name))
    },
    pull,
    refresh,
  }

  /** Drops the cached list of models. */
  function refresh(): void {
    known = undefined
    windows.clear()
  }

  /**
   * Has the runner download a model; progress is in bytes of the file under way. Throws `unavailable` where it does not answer,
   * and `not_found` or `protocol` with its own words where it cannot.
   */
  async function pull(name: string, onProgress: (received: number, total: number) => void, signal?: AbortSignal) {
    const reply = await send({
      method: 'POST',
      url: `${url}/api/pull`,
      headers: { accept: 'application/x-ndjson', 'content-type': 'application/json' },
      body: JSON.stringify({ model: name, stream: true }),
      timeouts: pullTimeouts,
      signal,
    }).catch((cause: unknown) => {
      throw new AppError('unavailable', `Ollama does not answer at ${url}`, { cause })
    })
    const decoder = new TextDecoder()
    let rest = ''
    let isDone = false
    for await (const bytes of reply.body) {
      const lines = `${rest}${decoder.decode(bytes, { stream: true })}`.split('\n')
      rest = lines.pop()!
      if (rest.length > longestLine) break
      for (const line of lines) take(line)
    }
    take(rest)
    refresh()
    if (!isDone) throw new AppError('protocol', `Ollama at ${url} ended the download of ${name} too early`)

    function take(line: string): void {
      const { error, status, total, completed } = objectOf(parsed(line))
      // Also an answer of status 200 may end with an error.
      if (typeof error === 'string')
        throw new AppError(reply.status === 404 ? 'not_found' : 'protocol', `Ollama could not pull ${name}: ${error}`)
      if (typeof total === 'number' && typeof completed === 'number') onProgress(completed, total)
      isDone ||= status === 'success'
    }
  }

  /** The installed models, or undefined when no runner answers. Cached for a few seconds. */
  function models(): Promise<readonly LocalModel[] | undefined> {
    if (!known || now() - known.at > listAge) known = { at: now(), models: list() }
    return known.models
  }

  async function list(): Promise<readonly LocalModel[] | undefined> {
    const answer = await read('tags')
    const rows = rowsIn(answer)
    // A connection that fails and another server's answer both mean that there is no runner. A first model may come any moment.
    if (!rows?.length) known = undefined
    return rows?.map(modelIn)
  }

  /** The answer to `GET /api/NAME`, or to a POST with a body; undefined for none. */
  async function read(name: string, body?: object): Promise<unknown> {
    try {
      const reply = await send({
        method: body ? 'POST' : 'GET',
        url: `${url}/api/${name}`,
        headers: { accept: 'application/json', ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
        timeouts: listTimeouts,
      })
      if (reply.status !== 200) {
        reply.discard()
        return undefined
      }
      return JSON.parse(await reply.text(4 * 1024 * 1024)) as unknown
    } catch {
      return undefined
    }
  }

  /** The window that a model was trained for, in tokens; undefined where the runner does not state it. */
  function windowOf(name: string): Promise<number | undefined> {
    const found =
      windows.get(name) ?? read('show', { model: name }).then((answer) => factsOfShow(answer).context_window)
    windows.set(name, found)
    return found
  }

  function targetFor(name: string, trained: number | undefined): Target {
    const existing = targets.get(`${name} ${trained}`)
    if (existing) return existing
    const isCloud = isCloudName(name)
    const most = isCloud ? trained : Math.min(trained ?? usualWindow, largestWindow)
    const manifest: PluginManifest = {
      id: 'local',
      name: 'Ollama',
      type: 'chat',
      endpoint: `${url}/api/chat`,
      auth: { header: '', key_env: '' },
      model_map: [name],
      api: 'ollama',
      timeouts: { first_byte: loadingMs },
    }
    const target = httpTarget({
      manifest,
      model: name,
      runner: 'ollama',
      dialect,
      send,
      keyHeader: () => ({}),
      facts: () => ({ context_window: least(most, learned(name)) }),
      openReasoning: openReasoning && ((user) => openReasoning(user, name)),
      refusedAdvice: () => `Ollama at ${url} asks for a log-in, as its models of a remote service do: ollama signin`,
    })
    const roomy = isCloud || most === undefined || most <= usualWindow ? target : withRoom(target, most)
    targets.set(`${name} ${trained}`, roomy)
    return roomy
  }

  /**
   * The same target, which asks for a larger window where a request does not fit the usual one: the runner would cut it
   * without a word. The size doubles, and never falls again, since each other size loads the model again.
   */
  function withRoom(target: Target, most: number): Target {
    let size = usualWindow
    const sized = new WeakMap<ChatRequest, ChatRequest>()
    const roomFor = (request: ChatRequest): ChatRequest => {
      const extra = objectOf(request.extra_content?.['ollama'])
      const options = objectOf(extra['options'])
      while (size < neededTokens(request) && size < most) size = Math.min(most, size * 2)
      if (size === usualWindow || options['num_ctx'] !== undefined) return request
      const ollama = { ...extra, options: { ...options, num_ctx: size } }
      const larger = { ...request, extra_content: { ...request.extra_content, ollama } }
      sized.set(request, larger)
      return larger
    }
    return {
      ...target,
      get contextTokens() {
        return target.contextTokens
      },
      ask: (request, ...rest) => target.ask(roomFor(request), ...rest),
      stream: (request, ...rest) => target.stream(roomFor(request), ...rest),
      preview: (request, streamed) => target.preview(roomFor(request), streamed),
      leftOut: (request) => target.leftOut(sized.get(request) ?? request),
    }
  }
}

/** The value of a line; undefined for one that is no JSON, which ends as an unfinished pull. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function least(one: number | undefined, other: number | undefined): number | undefined {
  return other === undefined ? one : Math.min(one ?? other, other)
}

/** Resolves a name as Ollama does: `llama3` is `llama3:latest`. */
function installed(names: readonly string[], asked: string | undefined): string | undefined {
  return asked === undefined ? undefined : names.find((name) => name === asked || name === `${asked}:latest`)
}

function rowsIn(answer: unknown): readonly JsonObject[] | undefined {
  const rows = (answer as { models?: unknown } | null | undefined)?.models
  return Array.isArray(rows) ? rows.filter((row) => isObject(row) && typeof row['name'] === 'string') : undefined
}

function modelIn(row: JsonObject): LocalModel {
  const name = row['name'] as string
  const capabilities = Array.isArray(row['capabilities']) ? row['capabilities'] : undefined
  const embedding = capabilities ? !capabilities.includes('completion') : isEmbeddingName(name)
  return { name, embedding, remote: typeof row['remote_host'] === 'string' || isCloudName(name), row }
}
