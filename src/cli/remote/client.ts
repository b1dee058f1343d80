import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import ky, { type KyResponse } from 'ky'
import type { z } from 'zod'
import { createEventReader } from '../../chat/protocol/sse.ts'
import { AppError, type AppErrorOptions, failureOfStatus, isFailureCode } from '../../errors.ts'
import { parseJson } from '../../formats/json.ts'
import { addressRange, hostRange, isLocalName } from '../../http/address-range.ts'
import { lookupFailure } from '../../http/lookup-failure.ts'
import { Download, type Operation } from '../../operations/operation.ts'
import { version } from '../../version.ts'
import { isSpeechServer, type SpeechExchange, speechRoute } from '../speech/remote.ts'
import type { Backend } from '../terminal/cli.ts'

export interface RemoteOptions {
  /** Without a slash at its end. */
  readonly server: string
  readonly token: string | undefined
  /** Plain http to another machine is allowed. */
  readonly insecure: boolean
  /** Finds the addresses of a name; the system's resolver where nothing else is given. */
  readonly resolve?: (hostname: string) => Promise<readonly { readonly address: string }[]>
}

/** The longest answer that is not a download: bytes. */
const longestAnswer = 64 * 1024 * 1024

/**
 * The operations of a server, asked over HTTP: the same inputs, answers and failures as in this process. Follows no
 * redirect, which could carry the token elsewhere, and repeats nothing by itself.
 * Throws `usage` for plain http beyond this machine, unless that is allowed.
 */
export function openRemote({ server, token, insecure, resolve = allAddresses }: RemoteOptions): Backend {
  const { protocol, hostname } = new URL(server)
  const readable = protocol === 'http:' && !insecure
  if (readable && hostRange(hostname) !== 'loopback') throw unencrypted(server)
  let dialled: Promise<void> | undefined

  return {
    server,
    async ask(operation, input, signal) {
      const fields = input as Record<string, unknown>
      const response = await exchange(requestOf(operation, fields), signal)
      if (await isElsewhere(response, signal)) return (await askSpeech(operation, fields, signal)) as never
      if (!response.ok) throw await failureOf(response, server)
      if (isDownload(operation, response)) return downloadOf(response, server) as never
      return (await answerOf(operation, response)) as never
    },
    async askStream(operation, input, signal) {
      const response = await exchange(requestOf(operation as Operation, input as Record<string, unknown>), signal)
      if (await isElsewhere(response, signal)) throw noApi(server)
      if (!response.ok) throw await failureOf(response, server)
      if (!/^text\/event-stream\b/i.test(response.headers.get('content-type') ?? ''))
        throw new AppError('protocol', `${server} did not answer with a stream`)
      return eventsOf(response, server)
    },
    async close() {},
  }

  /** A path that is not there may be asked of a speech server, which has others. */
  async function isElsewhere({ status }: Response, signal: AbortSignal | undefined): Promise<boolean> {
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
      throw new AppError('unavailable', `${server} is a speech server that cannot do this`, {
        details: ['voxa-tts and voxb-tts clone voices, voxa-tts makes them from a description'],
      })
    if (!response.ok) throw await failureOf(response, server)
    const parts = { server, download: (audio: Response) => downloadOf(audio, server) }
    const answer = await route.answer(response, parts).catch(() => undefined)
    if (operation.output.safeParse(answer).success) return answer
    throw new AppError('protocol', `The answer of ${server} is not that of a speech server`)
  }

  async function exchange(
    { method, path, headers, body }: Parameters<SpeechExchange>[0],
    signal: AbortSignal | undefined,
  ): Promise<KyResponse> {
    if (readable && isLocalName(hostname)) {
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
      const lookup = lookupFailure(reason)
      throw new AppError('unavailable', `No aichat answers at ${server}${lookup ? `: ${lookup}` : ''}`, {
        details: lookup
          ? ['To work without a server: --local']
          : ['Start one there: aichat serve', 'or work without it: --local'],
        cause: reason,
      })
    }
  }

  /** A name below localhost may lead elsewhere, where a resolver does not know that it means this machine. */
  async function requireThisMachine(): Promise<void> {
    // A name without an address fails where it is dialled.
    const addresses = await resolve(hostname).catch(() => [])
    if (addresses.some(({ address }) => addressRange(address) !== 'loopback')) throw unencrypted(server)
  }
}

function unencrypted(server: string): AppError {
  return new AppError('usage', `${server} is not encrypted: passwords, tokens and chats could be read on the way`, {
    details: ['Use an https address, or say --insecure'],
  })
}

function allAddresses(hostname: string): Promise<LookupAddress[]> {
  return lookup(hostname, { all: true })
}

function noApi(server: string): AppError {
  return new AppError('unavailable', `${server} is a speech server, which does nothing but speak`, {
    details: ['Name the address of the API with --server; `aichat serve` prints both', 'or work without it: --local'],
  })
}

/** What of an operation says where its input goes. */
type Placed = Pick<Operation, 'method' | 'path' | 'bodyField' | 'upload' | 'query' | 'name'>

/** An input in its places: in the path, the query, and the body. */
function requestOf(
  { method, path, bodyField, upload, query: declared = [], name }: Placed,
  input: Record<string, unknown>,
) {
  const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined))
  const filled = path.replace(/:(\w+)/g, (_, field: string) => {
    const value = rest.get(field)
    rest.delete(field)
    if (typeof value !== 'string') throw new AppError('usage', `${name} needs ${field}`)
    // These mean something else in an address, also when they are escaped, and nothing has such a name.
    if (/^\.{0,2}$/.test(value)) throw new AppError('not_found', `There is nothing of the name "${value}"`)
    return encodeURIComponent(value)
  })
  const { body, headers } = bodyOf()
  const query = new URLSearchParams([...rest].map(([field, value]): [string, string] => [field, queryText(value)]))
  return { method, path: `${filled}${rest.size > 0 ? `?${query}` : ''}`, headers, ...(body !== undefined && { body }) }

  /** The body takes its fields; what is left goes into the query. */
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

/** The answer as the server gave it, after a look whether it is what the operation promises. */
async function answerOf<O extends z.ZodType>(
  operation: Pick<Operation<z.ZodType, O>, 'output' | 'name'>,
  response: Response,
): Promise<unknown> {
  const value = parseAnswer(await textOf(response))
  const parsed = operation.output.safeParse(value)
  if (parsed.success) return value
  throw new AppError('protocol', `The server's answer to ${operation.name} is not what this aichat expects`, {
    details: [
      'The two may be of different versions',
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
  const pieces: Uint8Array[] = []
  let size = 0
  try {
    for await (const piece of response.body ?? []) {
      size += piece.length
      if (size > longestAnswer) throw new AppError('protocol', "The server's answer is too long")
      pieces.push(piece)
    }
  } catch (reason) {
    throw reason instanceof AppError ? reason : brokenOff(reason)
  }
  return Buffer.concat(pieces).toString('utf8')
}

/** The failure that a server reported, as it would have been in this process; its own kind by status for other servers. */
async function failureOf(response: Response, server: string): Promise<AppError> {
  const { status } = response
  if (status >= 300 && status < 400)
    return new AppError('unavailable', `${server} redirects to another address, which is not followed`, {
      details: [`It says: ${response.headers.get('location') ?? 'nowhere'}`],
    })
  const told = await textOf(response)
    .then(parseAnswer)
    .catch(() => undefined)
  const { error, details, code } = (told ?? {}) as ReportedFailure
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new AppError(
    isFailureCode(code, status) ? code : failureOfStatus(status),
    typeof error === 'string' ? error : `${server} answered with status ${status}`,
    {
      details: Array.isArray(details) ? details.map(String) : [],
      ...(Number.isFinite(retryAfter) && { retryAfter }),
      ...providerOf(told, status),
    },
  )
}

interface ReportedFailure {
  readonly error?: unknown
  readonly details?: unknown
  readonly code?: unknown
  /** In an error event of a stream: the HTTP status that the failure would have had. */
  readonly status?: unknown
}

/** The names that a provider gave the failure: there the code is not one of ours. */
function providerOf(told: unknown, status: number): Pick<AppErrorOptions, 'provider'> {
  const { code, type, param } = (told ?? {}) as Record<string, unknown>
  if (typeof code !== 'string' || isFailureCode(code, status)) return {}
  return {
    provider: {
      code,
      ...(typeof type === 'string' && { type }),
      ...(typeof param === 'string' && { param }),
    },
  }
}

/** A file is what the operation says it is, or what is offered for saving where the operation itself offers nothing. */
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
  // What comes again behind the body is not final in front of it, and `fetch` does not show trailers.
  const counting = (headers.get('trailer') ?? '').toLowerCase().split(/,\s*/)
  const ours = [...headers].filter(
    ([name]) => name.startsWith('x-') && !/^x-(?:content|frame|request)/.test(name) && !counting.includes(name),
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

/** The JSON values of a stream until its `[DONE]`. Throws what the server reports, and `protocol` where it just ends. */
async function* eventsOf(response: Response, server: string): AsyncGenerator<unknown> {
  const reader = createEventReader()
  for await (const piece of bytesOf(response, server)) {
    for (const { event, data } of reader.push(piece)) {
      if (data === '[DONE]') return
      const value = parseAnswer(data)
      if (event === 'error') throw reported(value)
      yield value
    }
  }
  throw brokenOff(undefined, server)
}

/** The failure in an error event: the status line was 200 long before, so the event says its kind. */
function reported(value: unknown): AppError {
  const { error, details, code, status } = value as ReportedFailure
  const told = typeof status === 'number' ? status : undefined
  const kind = isFailureCode(code, told) ? code : told === undefined ? 'unavailable' : failureOfStatus(told)
  return new AppError(kind, String(error ?? 'The answer broke off'), {
    details: Array.isArray(details) ? details.map(String) : [],
    ...(told !== undefined && providerOf(value, told)),
  })
}

function brokenOff(cause: unknown, server?: string): AppError {
  return new AppError('protocol', `The answer${server ? ` of ${server}` : ''} broke off`, { cause })
}
