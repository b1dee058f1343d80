import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

/** One HTTP exchange with a provider, recorded or written by hand in the same layout. */
export interface Exchange {
  /** The file and the exchange's place in it. */
  readonly name: string
  readonly method: string
  readonly url: string
  /** The request's body as parsed JSON; undefined where there is none. */
  readonly body: unknown
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly answer: Buffer
  /** Whether the answer's bytes are the provider's own. */
  readonly byteExact: boolean
  /** The expectation of a fixture beyond its bytes; recordings have none. */
  readonly expect: Expectation
}

export interface Expectation {
  /** The stream or answer fails in this way. */
  readonly failure?: { readonly kind: 'reported' | 'broken' | 'cut'; readonly code?: string }
  readonly text?: string
  readonly reasoning?: string
}

interface Cassette {
  readonly exchanges: readonly {
    readonly what?: string
    readonly request: { readonly method?: string; readonly url: string; readonly body?: unknown }
    readonly response: {
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      /** Recorders say it; a fixture is exact where its body is text or lines, not JSON. */
      readonly byte_exact?: boolean
      readonly body?: unknown
    }
    readonly expect?: Expectation
  }[]
}

/**
 * Every exchange in the JSON files of a folder and the folders in it, in the order of their names. Other
 * files, and JSON without exchanges, are skipped.
 */
export function loadExchanges(folder: string): readonly Exchange[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  return files
    .filter((file) => file.endsWith('.json') && statSync(join(folder, file)).isFile())
    .flatMap((file) => readCassette(file, parseJson(readFileSync(join(folder, file), 'utf8').replace(/^\uFEFF/, ''))))
}

function readCassette(file: string, parsed: unknown): readonly Exchange[] {
  const { exchanges } = (parsed ?? {}) as Partial<Cassette>
  if (!Array.isArray(exchanges)) return []
  return (exchanges as Cassette['exchanges']).map(({ what, request, response, expect }, index) => ({
    name: `${file} ${index + 1}${what ? ` (${what})` : ''}`,
    method: (request.method ?? 'POST').toUpperCase(),
    url: request.url,
    body: parseBody(request.body),
    status: response.status,
    headers: response.headers ?? {},
    answer: unpack(response.body),
    byteExact: response.byte_exact ?? (typeof response.body === 'string' || Array.isArray(response.body)),
    expect: expect ?? {},
  }))
}

/** Fixtures may hold a body as JSON, where its bytes do not matter, or as a list of its lines, to be read. */
function parseBody(body: unknown): unknown {
  return typeof body === 'string' ? parseJson(unpack(body).toString('utf8')) : (body ?? undefined)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Recorders keep a body that is not ASCII in base64 and say so nowhere: nothing else of a provider's looks like that.
 * Some keep it packed as it came.
 */
function unpack(body: unknown): Buffer {
  const isLines = Array.isArray(body) && body.every((line) => typeof line === 'string')
  if (isLines) return Buffer.from(body.join('\n'))
  if (typeof body !== 'string') return Buffer.from(body === undefined || body === null ? '' : JSON.stringify(body))
  const packed = body.length > 20 && body.length % 4 === 0 && /^[A-Za-z0-9+/]+=*$/.test(body)
  const bytes = packed ? Buffer.from(body, 'base64') : Buffer.from(body)
  return bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes
}

/** A chat as one of the dialects puts it to a provider, not a list of models, an embedding or another interface. */
export function isChat(exchange: Exchange): boolean {
  const path = exchange.url.replace(/[?#].*/, '')
  // A later turn of a thread holds no conversation: such requests are refused.
  const { thread } = Object(exchange.body) as { thread?: unknown }
  return (
    exchange.method === 'POST' &&
    (thread === undefined || thread === null) &&
    /\/chat\/completions$|\/responses$|\/messages$|:(stream)?generateContent$|\/api\/chat$/i.test(path)
  )
}

export function isStreamed(exchange: Exchange): boolean {
  const body = exchange.body as { stream?: unknown } | null | undefined
  if (/\/api\/chat$/.test(exchange.url)) return body?.stream !== false
  if (/:streamGenerateContent/i.test(exchange.url)) return true
  // Some providers answer in one piece all the same.
  return body?.stream === true && /^(?:data|event|id|retry)?:/m.test(exchange.answer.toString('latin1'))
}
