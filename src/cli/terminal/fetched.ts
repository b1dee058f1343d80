import { AppError } from '../../errors.ts'
import { parseJson, readBytes } from '../../formats/formats.ts'
import { connectionSentence } from '../../http/http.ts'
import type { Cli } from './cli.ts'
import { readJsonInput } from './files.ts'

/** Reads a JSON object of bounded size from a file, stdin (`-`) or address, sending no key. Throws `invalid`. */
export async function readObject(cli: Cli, source: string, limit: number, what: string): Promise<object> {
  const document = isAddress(source)
    ? await fetchJson(source, limit, cli.signal())
    : await readJsonInput(cli, source, limit)
  if (typeof document === 'object' && document !== null && !Array.isArray(document)) return document
  throw new AppError('invalid', `Invalid ${what}: must be a JSON object`)
}

/** Whether a source of a document is an http(s) address. */
function isAddress(source: string): boolean {
  return /^https?:\/\//i.test(source)
}

async function fetchJson(url: string, limit: number, signal: AbortSignal): Promise<unknown> {
  const { default: ky } = await import('ky')
  try {
    const response = await ky.get(url, {
      redirect: 'manual',
      throwHttpErrors: false,
      retry: 0,
      timeout: 20_000,
      signal,
    })
    if (!response.ok) throw new AppError('unavailable', `${url} answered with status ${response.status}`)
    return parseJson(await textOf(response, url, limit), url)
  } catch (reason) {
    throw reason instanceof AppError
      ? reason
      : new AppError('unavailable', `${url} cannot be reached`, {
          details: [connectionSentence(reason)].filter((line) => line !== undefined),
          cause: reason,
        })
  }
}

/** Reads no more than the limit: an answer may have no end. */
async function textOf({ body }: Response, url: string, limit: number): Promise<string> {
  const tooLong = () => new AppError('too_large', `${url} holds more than ${Math.round(limit / 1024)} KiB`)
  return body ? (await readBytes(body, limit, tooLong)).toString('utf8') : ''
}
