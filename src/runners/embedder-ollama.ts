import { AppError } from '../errors.ts'
import type { HttpResponse, Send } from '../http/http.ts'
import type { Embedder, EmbeddingSpace, TextRole } from '../personas/personas.ts'
import { isEmbeddingName } from './ollama.ts'

export interface InstalledEmbedder {
  readonly name: string
  /** Changes when another version of the model is pulled. */
  readonly digest: string
  readonly dimension?: number
}

export type OllamaEmbeddings = ReturnType<typeof createOllamaEmbeddings>

export interface OllamaEmbeddingsParts {
  /** Such as http://127.0.0.1:11434. */
  readonly url: string
  readonly send: Send
  /** Milliseconds, monotonic. */
  readonly now: () => number
  /** Milliseconds; without it the usual 3,000. */
  readonly listAge?: number | undefined
  /** Milliseconds; without it the usual 5,000. */
  readonly restAfterFailure?: number | undefined
}

/** Milliseconds: a burst of requests asks once, and a model just pulled is found. */
const usualListAge = 3_000
/** Milliseconds before a runner that did not answer is asked again: a search must not wait for it each time. */
const usualRest = 5_000
const listTimeouts = { connect: 1_000, firstByte: 3_000, idle: 3_000 }
/** The first request after a pause loads the model, which takes seconds. */
const embedTimeouts = { connect: 1_000, firstByte: 60_000, idle: 10_000 }
/** A query is interactive: after this the search continues without vectors. */
const queryTimeouts = { connect: 500, firstByte: 4_000, idle: 2_000 }
/** Bytes. */
const longestReply = 64 * 1024 * 1024

/** Embeddings over Ollama's HTTP API (https://github.com/ollama/ollama/blob/main/docs/api.md). */
export function createOllamaEmbeddings({
  url,
  send,
  now,
  listAge = usualListAge,
  restAfterFailure = usualRest,
}: OllamaEmbeddingsParts) {
  let known: { readonly at: number; readonly models: Promise<readonly InstalledEmbedder[] | undefined> } | undefined
  const capabilities = new Map<string, Promise<Shown>>()
  let restsUntil = Number.NEGATIVE_INFINITY

  return { url, installed, embedder }

  /** The installed embedding models, or undefined when no runner answers. Cached for a few seconds. */
  function installed(): Promise<readonly InstalledEmbedder[] | undefined> {
    if (!known || now() - known.at > listAge) known = { at: now(), models: list() }
    return known.models
  }

  async function list(): Promise<readonly InstalledEmbedder[] | undefined> {
    try {
      const answer = await ask('GET', '/api/tags', undefined, listTimeouts)
      const rows = (answer as { models?: unknown }).models
      if (!Array.isArray(rows)) return undefined
      const found = await Promise.all(rows.map((row: TagRow) => embedderIn(row)))
      return found.flatMap((model) => model ?? [])
    } catch {
      // A connection that fails and another server's answer both mean that there is no runner.
      return undefined
    }
  }

  /** Takes the capabilities from the list, else from `/api/show`, else from the name. */
  async function embedderIn(row: TagRow): Promise<InstalledEmbedder | undefined> {
    if (typeof row?.name !== 'string') return undefined
    const digest = typeof row.digest === 'string' ? row.digest : ''
    const listed = Array.isArray(row.capabilities) ? row.capabilities : undefined
    const shown = listed && !listed.includes('embedding') ? undefined : await show(row.name, digest)
    const declared = listed ?? shown?.capabilities
    if (!(declared ? declared.includes('embedding') : isEmbeddingName(row.name))) return undefined
    return { name: row.name, digest, ...(shown?.dimension !== undefined && { dimension: shown.dimension }) }
  }

  function show(name: string, digest: string): Promise<Shown> {
    const key = `${name} ${digest}`
    const seen = capabilities.get(key)
    if (seen) return seen
    const asked = ask('POST', '/api/show', { model: name }, listTimeouts).then(shownOf, (): Shown => {
      capabilities.delete(key)
      return {}
    })
    capabilities.set(key, asked)
    return asked
  }

  /** The model's embedder; `embed` throws `unavailable` when the runner or the model is not found. */
  function embedder(asked: string): Embedder {
    let last: EmbeddingSpace | undefined
    return {
      model: asked,
      endpoint: url,
      trust: 0.7,
      space: () => last,
      async embed(texts, role, signal) {
        if (now() < restsUntil) throw missing(`The model runner at ${url} does not answer`)
        const models = await installed()
        const model = models?.find(({ name }) => name === asked || name === `${asked}:latest`)
        if (!models) restsUntil = now() + restAfterFailure
        if (!model) {
          throw missing(
            models
              ? `The embedding model ${asked} is not installed: run \`ollama pull ${asked}\``
              : `The model runner at ${url} does not answer`,
          )
        }
        const body = { model: model.name, input: texts.map((text) => prompt(model.name, role, text)), truncate: true }
        const answer = await ask('POST', '/api/embed', body, role === 'query' ? queryTimeouts : embedTimeouts, signal)
        const vectors = vectorsOf(answer, texts.length)
        const dimension = vectors[0]?.length ?? 0
        const key = `ollama/${model.name}@${model.digest.slice(0, 12)}/${dimension}`
        last = { key, model: asked, dimension }
        return { space: last, vectors }
      },
    }
  }

  async function ask(
    method: 'GET' | 'POST',
    path: string,
    body: unknown,
    timeouts: typeof listTimeouts,
    signal?: AbortSignal,
  ): Promise<unknown> {
    let reply: HttpResponse
    let text: string
    try {
      reply = await send({
        method,
        url: url + path,
        headers: { accept: 'application/json', ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        timeouts,
        signal,
      })
      text = await reply.text(longestReply)
    } catch (cause) {
      // A caller that has gone away is no failure of the runner.
      if (!signal?.aborted || signal.reason?.name === 'TimeoutError') restsUntil = now() + restAfterFailure
      throw missing(`The model runner at ${url} does not answer`, cause)
    }
    if (reply.status !== 200) throw missing(`The model runner refused ${path}: ${text.slice(0, 300)}`)
    try {
      return JSON.parse(text)
    } catch (cause) {
      throw new AppError('protocol', `The model runner at ${url} sent invalid JSON`, { cause })
    }
  }
}

interface TagRow {
  readonly name?: unknown
  readonly digest?: unknown
  readonly capabilities?: unknown
}

interface Shown {
  readonly capabilities?: readonly unknown[]
  readonly dimension?: number
}

function shownOf(answer: unknown): Shown {
  const { capabilities, model_info } = answer as { capabilities?: unknown; model_info?: Record<string, unknown> }
  const dimension = Object.entries(model_info ?? {}).find(([field]) => field.endsWith('.embedding_length'))?.[1]
  return {
    ...(Array.isArray(capabilities) && { capabilities }),
    ...(typeof dimension === 'number' && { dimension }),
  }
}

/** One unit vector for each text, all of one length. Throws `protocol` otherwise: a wrong vector is worse than none. */
function vectorsOf(answer: unknown, count: number): Float32Array[] {
  const rows = (answer as { embeddings?: unknown } | null)?.embeddings
  const vectors = Array.isArray(rows) ? rows.map((row) => Float32Array.from(Array.isArray(row) ? row : [])) : []
  const dimension = vectors[0]?.length ?? 0
  const lengths = vectors.map((vector) => Math.hypot(...vector))
  const sound = vectors.every(
    ({ length }, at) => length === dimension && Number.isFinite(lengths[at]) && lengths[at]! > 0,
  )
  if (vectors.length !== count || dimension === 0 || !sound)
    throw new AppError('protocol', 'The model runner sent invalid vectors')
  return vectors.map((vector, at) => vector.map((value) => value / lengths[at]!))
}

/**
 * The prefixes of questions and documents with which models were trained, from their model cards: nomic-embed-text, e5,
 * embeddinggemma, qwen3-embedding, mxbai, bge and snowflake-arctic on Hugging Face.
 */
const prompts: readonly (readonly [name: RegExp, query: string, document: string])[] = [
  [/nomic-embed-text/, 'search_query: ', 'search_document: '],
  [/(?:^|[/_-])(?:multilingual-)?e5-/, 'query: ', 'passage: '],
  [/embeddinggemma/, 'task: search result | query: ', 'title: none | text: '],
  [/qwen3-embedding/, 'Instruct: Given a question, retrieve passages that answer it\nQuery: ', ''],
  [/snowflake-arctic-embed2/, 'query: ', ''],
  [
    /mxbai-embed|bge-(?:small|base|large)-en|bge-large|snowflake-arctic-embed/,
    'Represent this sentence for searching relevant passages: ',
    '',
  ],
]

function prompt(model: string, role: TextRole, text: string): string {
  const found = prompts.find(([name]) => name.test(model))
  return found ? `${role === 'query' ? found[1] : found[2]}${text}` : text
}

function missing(message: string, cause?: unknown): AppError {
  return new AppError('unavailable', message, { cause })
}
