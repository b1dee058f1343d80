import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import ky, { type KyResponse } from 'ky'
import type { z } from 'zod'
import { createEventReader } from '../../chat/chat.ts'
import { AppError, type AppErrorOptions, failureOfStatus, isFailureCode } from '../../errors.ts'
import { parseJson, readBytes } from '../../formats/formats.ts'
import { addressRange, connectionFailure, hostRange, isLocalName } from '../../http/http.ts'
import { Download, type Operation } from '../../operations/operations.ts'
import { version } from '../../version.ts'
import { isSpeechServer, type SpeechExchange, speechRoute } from '../speech/remote.ts'
import type { Backend } from '../terminal/cli.ts'
import type { Target } from './target.ts'

export interface RemoteOptions {
  /** Without a slash at its end. */
  readonly server: string
  readonly token: string | undefined
  /** The source of the address; by default the command line itself. */
  readonly from?: Target['from']
  /** Plain http to another machine is allowed. */
  readonly insecure: boolean
  /** Resolves a host name; by default with the system's resolver. */
  readonly resolve?: (hostname: string) => Promise<readonly { readonly address: string }[]>
}

/** The sources of an address other than the command line, in words. */
const origins = { setting: 'AICHAT_SERVER or the setting server', login: 'the last login' } as const

/** The longest answer that is not a download: bytes. */
const longestAnswer = 64 * 1024 * 1024

/**
 * Runs operations on a server over HTTP, with the inputs, outputs and failures of this process. Follows no redirect, which
 * could leak the token, and does not retry. Throws `usage` for plain http beyond this machine, unless `insecure`.
 */
export function openRemote({ server, token, from = 'flag', insecure, resolve = allAddresses }: RemoteOptions): Backend {
  const { protocol, hostname } = new URL(server)
  const unencryptedHttp = protocol === 'http:' && !insecure
  if (unencryptedHttp && hostRange(hostname) !== 'loopback') throw unencrypted(server)
  let dialled: Promise<void> | undefined

  return {
    server,
    async ask(operation, input, signal) {
      const fields = input as Record<string, unknown>
      const response = await exchange(requestOf(operation, fields), signal)
      if (await isSpeechRoute(response, signal)) return (await askSpeech(operation, fields, signal)) as never
      if (!response.ok) throw await failureOf(response, server)
      if (isDownload(operation, response)) return downloadOf(response, server) as never
      return (await answerOf(operation, response)) as never
    },
    async askStream(operation, input, signal) {
      const response = await exchange(requestOf(operation as Operation, input as Record<string, unknown>), signal)
      if (await isSpeechRoute(response, signal)) throw noApi(server)
      if (!response.ok) throw await failureOf(response, server)
      if (!/^text\/event-stream\b/i.test(response.headers.get('content-type') ?? ''))
        throw new AppError('protocol', `${server} did not answer with a stream`)
      return eventsOf(response, server)
    },
    async close() {},
  }

  /** True for a 404 of a speech server, which has other routes. */
  async function isSpeechRoute({ status }: Response, signal: AbortSignal | undefined): Promise<boolean> {
    return status === 404 && (await isSpeechServer(exchange, signal))
  }

  async function askSpeech(
    operation: Pick<Operation, 'name' | 'output'>,
    input: Record<string, unknown>,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    const route = speechRoute(operation.name)
    if (!route) throw noApi(server)
    const response = await exchange(route.request(input), signal)
    if (response.status === 404)
      throw new AppError('unavailable', `${server} is a speech server without this function`, {
        details: ['voxa-tts and voxb-tts clone voices, voxa-tts makes them from a description'],
      })
    if (!response.ok) throw await failureOf(response, server)
    const parts = { server, download: (audio: Response) => downloadOf(audio, server) }
    const answer = await route.answer(response, parts).catch(() => undefined)
    if (operation.output.safeParse(answer).success) return answer
    throw new AppError('protocol', `Invalid answer from the speech server ${server}`)
  }

  async function exchange(
    { method, path, headers, body }: Parameters<SpeechExchange>[0],
    signal: AbortSignal | undefined,
  ): Promise<KyResponse> {
    if (unencryptedHttp && isLocalName(hostname)) {
      dialled ??= requireThisMachine()
      await dialled
    }
    try {
      return await ky(`${server}${path}`, {
        method,
        headers: {
          'user-agent': `aichat-toolkit/${version()}`,
          ...headers,
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        redirect: 'manual',
        throwHttpErrors: false,
        retry: 0,
        timeout: false,
        ...(body !== undefined && { body }),
        ...(signal && { signal }),
      })
    } catch (reason) {
      if (signal?.aborted) throw reason
      throw noServer(reason)
    }
  }

  function noServer(reason: unknown): AppError {
    const { problem, advice, isName, isCertificate } = connectionFailure(reason) ?? {}
    const words = isName || isCertificate ? `: ${problem}: ${advice}` : problem ? `: ${problem}` : ''
    return new AppError('unavailable', `No aichat answers at ${server}${words}`, {
      details: [
        ...(from === 'flag' ? [] : [`The address is that of ${origins[from]}`]),
        ...(isName
          ? ['To work without a server: --local']
          : isCertificate
            ? []
            : ['Start one there: aichat serve', 'or work without it: --local']),
      ],
      cause: reason,
    })
  }

  /** Throws `usage` when a name below localhost resolves to another machine (RFC 6761 §6.3 is not enforced everywhere). */
  async function requireThisMachine(): Promise<void> {
    // A name without an address fails in the request.
    const addresses = await resolve(hostname).catch(() => [])
    if (addresses.some(({ address }) => addressRange(address) !== 'loopback')) throw unencrypted(server)
  }
}

function unencrypted(server: string): AppError {
  return new AppError(
    'usage',
    `${server} is not encrypted: others on the network could read passwords, tokens and chats`,
    {
      details: ['Use an https address, or add --insecure'],
    },
  )
}

function allAddresses(hostname: string): Promise<LookupAddress[]> {
  return lookup(hostname, { all: true })
}

function noApi(server: string): AppError {
  return new AppError('unavailable', `${server} is a speech server, without the REST API`, {
    details: ['Give the address of the API with --server; `aichat serve` prints both', 'or work without it: --local'],
  })
}

type Placement = Pick<Operation, 'method' | 'path' | 'bodyField' | 'upload' | 'query' | 'name'>

/** Places an input in the path, the query and the body. */
function requestOf(
  { method, path, bodyField, upload, query: declared = [], name }: Placement,
  input: Record<string, unknown>,
) {
  const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined))
  const filled = path.replace(/:(\w+)/g, (_, field: string) => {
    const value = rest.get(field)
    rest.delete(field)
    if (typeof value !== 'string') throw new AppError('usage', `${name} needs ${field}`)
    // "", "." and ".." would change the path, even escaped; nothing has such a name.
    if (/^\.{0,2}$/.test(value)) throw new AppError('not_found', `"${value}" not found`)
    return encodeURIComponent(value)
  })
  const { body, headers } = bodyOf()
  const query = new URLSearchParams([...rest].map(([field, value]): [string, string] => [field, queryText(value)]))
  return { method, path: `${filled}${rest.size > 0 ? `?${query}` : ''}`, headers, ...(body !== undefined && { body }) }

  /** Takes the fields of the body; the remaining ones go into the query. */
  function bodyOf(): { body?: NonNullable<RequestInit['body']>; headers: Record<string, string> } {
    const json = { 'content-type': 'application/json' }
    if (upload) {
      const value = rest.get(upload.field)
      rest.delete(upload.field)
      if (upload.as === 'multipart') {
        const form = new FormData()
        form.set(upload.field, new Blob([String(value)], { type: 'application/json' }), upload.field)
        return { body: form, headers: {} }
      }
      const stream = ReadableStream.from(value as AsyncIterable<Uint8Array>)
      return { body: stream, headers: { 'content-type': 'application/octet-stream' } }
    }
    if (bodyField) {
      const value = rest.get(bodyField)
      rest.delete(bodyField)
      return value === undefined ? { headers: {} } : { body: JSON.stringify(value), headers: json }
    }
    if (method === 'GET' || method === 'DELETE') return { headers: {} }
    const fields = [...rest].filter(([field]) => !declared.includes(field))
    for (const [field] of fields) rest.delete(field)
    return fields.length > 0 ? { body: JSON.stringify(Object.fromEntries(fields)), headers: json } : { headers: {} }
  }
}

function queryText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The server's JSON, validated against the operation's output. Throws `protocol`. */
async function answerOf<O extends z.ZodType>(
  operation: Pick<Operation<z.ZodType, O>, 'output' | 'name'>,
  response: Response,
): Promise<unknown> {
  const value = parseAnswer(await textOf(response))
  const parsed = operation.output.safeParse(value)
  if (parsed.success) return value
  throw new AppError('protocol', `Invalid answer from the server to ${operation.name}`, {
    details: [
      'Server and client may have different versions',
      ...parsed.error.issues.map(({ path }) => path.join('.')).slice(0, 5),
    ],
  })
}

function parseAnswer(text: string): unknown {
  try {
    return parseJson(text, "the server's answer")
  } catch (cause) {
    throw new AppError('protocol', "The server's answer cannot be read", { cause })
  }
}

async function textOf(response: Response): Promise<string> {
  if (!response.body) return ''
  const tooLong = () => new AppError('protocol', "The server's answer is too long")
  try {
    return (await readBytes(response.body, longestAnswer, tooLong)).toString('utf8')
  } catch (reason) {
    throw reason instanceof AppError ? reason : brokenOff(reason)
  }
}

/** The failure of a response: the server's own code, else the one of its status. */
async function failureOf(response: Response, server: string): Promise<AppError> {
  const { status } = response
  if (status >= 300 && status < 400)
    return new AppError('unavailable', `${server} redirects to another address, which is not followed`, {
      details: [`Location: ${response.headers.get('location') ?? 'none'}`],
    })
  const report = await textOf(response)
    .then(parseAnswer)
    .catch(() => undefined)
  const { error, details, code } = (report ?? {}) as ReportedFailure
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new AppError(
    isFailureCode(code, status) ? code : failureOfStatus(status),
    typeof error === 'string' ? error : `${server} answered with status ${status}`,
    {
      details: Array.isArray(details) ? details.map(String) : [],
      ...(Number.isFinite(retryAfter) && { retryAfter }),
      ...providerOf(report, status),
    },
  )
}

interface ReportedFailure {
  readonly error?: unknown
  readonly details?: unknown
  readonly code?: unknown
  /** In an error event: the HTTP status of the failure outside a stream. */
  readonly status?: unknown
}

/** The provider's own code, type and param, when the code is not one of aichat. */
function providerOf(report: unknown, status: number): Pick<AppErrorOptions, 'provider'> {
  const { code, type, param } = (report ?? {}) as Record<string, unknown>
  if (typeof code !== 'string' || isFailureCode(code, status)) return {}
  return {
    provider: {
      code,
      ...(typeof type === 'string' && { type }),
      ...(typeof param === 'string' && { param }),
    },
  }
}

/** True for an operation that produces a file, and for other responses with an attachment or without JSON. */
function isDownload(operation: Pick<Operation, 'produces' | 'attachment'>, response: Response): boolean {
  return (
    operation.produces !== undefined ||
    (operation.attachment === undefined && response.headers.has('content-disposition')) ||
    !/^application\/json\b/i.test(response.headers.get('content-type') ?? '')
  )
}

function downloadOf(response: Response, server: string): Download {
  const { headers } = response
  const filename = /filename="([^"]*)"/.exec(headers.get('content-disposition') ?? '')?.[1]
  // Headers repeated as trailers are not final, and `fetch` does not expose trailers.
  const trailers = (headers.get('trailer') ?? '').toLowerCase().split(/,\s*/)
  const ours = [...headers].filter(
    ([name]) => name.startsWith('x-') && !/^x-(?:content|frame|request)/.test(name) && !trailers.includes(name),
  )
  return new Download(headers.get('content-type') ?? 'application/octet-stream', bytesOf(response, server), {
    ...(filename !== undefined && { filename }),
    headers: Object.fromEntries(ours),
  })
}

async function* bytesOf(response: Response, server: string): AsyncGenerator<Uint8Array> {
  try {
    yield* response.body ?? []
  } catch (reason) {
    throw brokenOff(reason, server)
  }
}

/** Parses events until `[DONE]`. Throws the failure of an error event, and `protocol` when the stream ends early. */
async function* eventsOf(response: Response, server: string): AsyncGenerator<unknown> {
  const reader = createEventReader()
  for await (const piece of bytesOf(response, server)) {
    for (const { event, data } of reader.push(piece)) {
      if (data === '[DONE]') return
      const value = parseAnswer(data)
      if (event === 'error') throw failureOfEvent(value)
      yield value
    }
  }
  throw brokenOff(undefined, server)
}

/** The failure of an error event; its `status` replaces the HTTP status, which was 200. */
function failureOfEvent(value: unknown): AppError {
  const { error, details, code, status } = value as ReportedFailure
  const known = typeof status === 'number' ? status : undefined
  const kind = isFailureCode(code, known) ? code : known === undefined ? 'unavailable' : failureOfStatus(known)
  return new AppError(kind, String(error ?? 'The answer broke off'), {
    details: Array.isArray(details) ? details.map(String) : [],
    ...(known !== undefined && providerOf(value, known)),
  })
}

function brokenOff(cause: unknown, server?: string): AppError {
  return new AppError('protocol', `The answer${server ? ` of ${server}` : ''} broke off`, { cause })
}
