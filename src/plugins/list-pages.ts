import { AppError, type FailureCode } from '../errors.ts'
import { parseJson } from '../formats/formats.ts'
import { deadlineReached, type HttpResponse, type ReadError, type Send, type Timeouts } from '../http/http.ts'
import { type ModelRow, rowsOf, valueAt } from './catalog.ts'
import type { ModelsSource, PluginManifest } from './manifest.ts'

export interface PageParts {
  readonly send: Send
  readonly readError: ReadError
  readonly keyHeader: (url: string) => Record<string, string> | Promise<Record<string, string>>
  readonly refusedAdvice: () => string
  /** Takes keys out of a provider's words. */
  readonly redact: (text: string) => string
  readonly timeouts: Pick<Timeouts, 'connect' | 'firstByte' | 'idle'>
  /** Milliseconds on the monotonic clock: when the last page must be there. */
  readonly endsAt: number
  readonly signal?: AbortSignal | undefined
}

/** The longest recorded list is 0.4 MB (OpenRouter's, 2025); one page may be forty times that. Bytes. */
const longestPage = 16 * 1024 * 1024
const longestError = 64 * 1024
const mostPages = 100
const mostRows = 10_000

/**
 * All rows of a provider's list, page after page as the plugin's `models_source` says. Follows no redirect.
 * Throws an AppError where the provider refused, is gone, timed out, or sent anything but a list.
 */
export async function fetchRows(
  manifest: PluginManifest,
  source: ModelsSource,
  parts: PageParts,
): Promise<readonly ModelRow[]> {
  const rows: ModelRow[] = []
  const seen = new Set<string>()
  let cursor: string | undefined
  for (let page = 1; page <= mostPages; page++) {
    const answer = await fetchPage(manifest, pageUrl(source, cursor), parts)
    const found = rowsOf(answer, source)
    // An empty page may leave its list out altogether, as Google's JSON does; a first one must hold a list.
    if (!found && page === 1) throw notAList(source, answer, parts.readError)
    rows.push(...(found ?? []))
    if (rows.length > mostRows)
      throw new AppError('protocol', `The list is longer than ${mostRows} rows, which cannot be a list of models`)
    cursor = nextCursor(source, answer)
    if (cursor === undefined || !found || found.length === 0) return rows
    if (seen.has(cursor))
      throw new AppError('protocol', 'The list goes round in circles: a page names itself as the next')
    seen.add(cursor)
  }
  throw new AppError('protocol', `The list has more than ${mostPages} pages, which cannot be a list of models`)
}

function pageUrl(source: ModelsSource, cursor: string | undefined): string {
  const url = new URL(source.url)
  for (const [name, value] of Object.entries(source.query ?? {})) url.searchParams.set(name, value)
  if (source.next && cursor !== undefined) url.searchParams.set(source.next.query, cursor)
  return url.href
}

function nextCursor({ next }: ModelsSource, answer: unknown): string | undefined {
  if (!next || (next.more !== undefined && valueAt(answer, next.more) !== true)) return undefined
  const value = valueAt(answer, next.field)
  return typeof value === 'string' && value !== '' ? value : typeof value === 'number' ? String(value) : undefined
}

function notAList(source: ModelsSource, answer: unknown, readError: ReadError): AppError {
  const reported = readError(answer)
  if (reported)
    return new AppError('protocol', `The provider answered with an error: ${reported.message.slice(0, 300)}`)
  const where = source.items === '' ? 'is no list' : `holds no list at "${source.items}"`
  return new AppError('protocol', `The answer of ${new URL(source.url).host} ${where}`)
}

async function fetchPage(manifest: PluginManifest, url: string, parts: PageParts): Promise<unknown> {
  const { host } = new URL(url)
  const key = await parts.keyHeader(url)
  const headers: Record<string, string> = { accept: 'application/json' }
  for (const [name, value] of [...Object.entries(manifest.headers ?? {}), ...Object.entries(key)])
    headers[name.toLowerCase()] = value
  let reply: HttpResponse
  let text: string
  try {
    const { timeouts, endsAt, signal } = parts
    reply = await parts.send({ method: 'GET', url, headers, timeouts, endsAt, signal })
    if (reply.status < 200 || reply.status > 299) throw await refusal(host, reply, parts)
    text = await reply.text(longestPage)
  } catch (reason) {
    throw reason instanceof AppError ? reason : broken(host, reason, parts.signal)
  }
  if (/^\s*</.test(text)) throw new AppError('protocol', `${host} answered with a web page instead of a list`)
  try {
    return parseJson(text, `the answer of ${host}`)
  } catch (cause) {
    throw new AppError('protocol', cause instanceof AppError ? cause.message : String(cause), {
      details: cause instanceof AppError ? cause.details : [],
      cause,
    })
  }
}

/** The failure for a status other than 2xx. */
async function refusal(
  host: string,
  reply: HttpResponse,
  { redact, readError, refusedAdvice }: PageParts,
): Promise<AppError> {
  const { status } = reply
  if (status >= 300 && status < 400) {
    reply.discard()
    return new AppError('protocol', `${host} answered with a redirect (${status}), which is never followed`)
  }
  const words = redact(await wordsOf(reply, readError))
  const reason = words === '' ? '' : `: ${words}`
  if (status === 401 || status === 403)
    return new AppError('forbidden', `${host} refused the key (${status})${reason}`, { details: [refusedAdvice()] })
  if (status === 410) return new AppError('unavailable', `${host} is gone for good (410)${reason}`)
  return new AppError(codeOf(status), `${host} answered ${status}${reason}`)
}

function codeOf(status: number): FailureCode {
  if (status === 429) return 'rate_limited'
  if (status === 408 || status === 504) return 'timeout'
  return status >= 500 ? 'unavailable' : 'protocol'
}

/** The provider's own words in an error body, or nothing. */
async function wordsOf(reply: HttpResponse, readError: ReadError): Promise<string> {
  try {
    const text = await reply.text(longestError)
    const message = readError(JSON.parse(text))?.message ?? ''
    return message
      .replace(/[\s\x00-\x1f\x7f-\x9f]+/g, ' ')
      .trim()
      .slice(0, 300)
  } catch {
    return ''
  }
}

/** An exchange that did not come to its end. */
function broken(host: string, reason: unknown, signal: AbortSignal | undefined): AppError {
  if (signal?.aborted) return new AppError('unavailable', 'The refresh was stopped', { cause: reason })
  const message = reason instanceof Error ? reason.message : String(reason)
  const code = (reason as { code?: unknown } | null)?.code
  if (reason === deadlineReached || /TIMEOUT/.test(String(code)))
    return new AppError('timeout', `${host} did not answer in time`, { cause: reason })
  if (/longer than/.test(message) || code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    return new AppError(
      'protocol',
      `${host} sent more than a list of models can hold: ${longestPage / 1024 / 1024} MiB`,
      {
        cause: reason,
      },
    )
  return new AppError('unavailable', `${host} could not be asked: ${message || String(code)}`, {
    cause: reason,
  })
}
