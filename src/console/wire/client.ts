import { secret } from './secret.ts'

/** A refusal of the API: one sentence, one line for each problem, and the status. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly status: number
  readonly details: readonly string[]
  readonly code: string | undefined
  /** When what is still shown was read: milliseconds since 1970. */
  shownFrom?: number

  constructor(status: number, { error, details, code }: { error: string; details?: readonly string[]; code?: string }) {
    super(error)
    this.status = status
    this.details = details ?? []
    this.code = code
  }
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>

export interface AskOptions {
  readonly query?: Query
  readonly body?: unknown
  /** A body as it is, of this media type. */
  readonly file?: { readonly content: BodyInit; readonly type: string }
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

const endListeners = new Set<() => void>()

/** Calls back when the API says that the login has ended. */
export function onLoginEnded(listener: () => void): () => void {
  endListeners.add(listener)
  return () => void endListeners.delete(listener)
}

/** Asks the API and reads its JSON. Throws `Refused`. */
export async function ask<T>(method: Method, path: string, options: AskOptions = {}): Promise<T> {
  return (await send(method, path, options)).json() as Promise<T>
}

/** The whole of a list that the API gives in pages; `name` is the list's field. Throws `Refused`. */
export async function askPages<T>(path: string, name: string, options: AskOptions): Promise<readonly T[]> {
  const all: T[] = []
  for (;;) {
    const query = { ...options.query, limit: longestPage, offset: all.length }
    const { [name]: page = [] } = await ask<Record<string, readonly T[]>>('GET', path, { ...options, query })
    all.push(...page)
    if (page.length < longestPage) return all
  }
}

/** The most items that the API gives at once. */
const longestPage = 1000

/** Asks the API for an answer of another kind. Throws `Refused`. */
export async function send(method: Method, path: string, options: AskOptions = {}): Promise<Response> {
  const { query = {}, body, file, headers, signal } = options
  const sent = secret()
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  const search = given.length > 0 ? `?${new URLSearchParams(given)}` : ''
  const response = await fetch(path + search, {
    method,
    headers: {
      ...(sent !== undefined && { 'x-aichat-console': sent }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(file && { 'content-type': file.type }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(file && { body: file.content }),
    ...(signal && { signal }),
  }).catch((reason: unknown) => {
    if (signal?.aborted) throw reason
    throw new Refused(0, {
      error: 'The server does not answer',
      details: ['The service may have ended, or this machine is not connected'],
    })
  })
  if (response.ok) return response
  const refused = refusalIn(response.status, await response.json().catch(() => undefined))
  // A late answer to the login before says nothing about this one.
  const isOver = response.status === 401 && sent !== undefined && sent === secret() && !path.endsWith('/login')
  if (isOver) for (const listener of endListeners) listener()
  throw refused
}

/** The refusal in the body of an answer. */
export function refusalIn(status: number, failure: unknown): Refused {
  const { error, details, code } = (failure ?? {}) as { error?: unknown; details?: unknown; code?: unknown }
  return new Refused(status, {
    error: typeof error === 'string' ? error : `The server answered with status ${status}`,
    details: Array.isArray(details) ? details.map(String) : [],
    ...(typeof code === 'string' && { code }),
  })
}

/** The same path with its variable parts encoded: `` path`/api/plugins/${id}` ``. */
export function path(parts: TemplateStringsArray, ...values: readonly string[]): string {
  return String.raw({ raw: parts }, ...values.map(encodeURIComponent))
}

/** The problem of a thrown value, in words. */
export function problemOf(thrown: unknown): Refused {
  if (thrown instanceof Refused) return thrown
  return new Refused(0, { error: thrown instanceof Error ? thrown.message : 'Something went wrong' })
}
