import { rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '../src/errors.ts'
import { makeFolder, readBytes, signatureMismatch } from '../src/formats/formats.ts'
import { connectionSentence, hostRange } from '../src/http/http.ts'
import { startDeadline } from './deadline.ts'

/** Finds the file of a voice that is named by its path on a model hub; resolves to a path on this machine. */
export type FetchVoice = (path: string, signal?: AbortSignal) => Promise<string>

export interface HubOptions {
  /** Where files lie as `owner/repository/path`, and where fetched ones are put. */
  readonly modelsFolder: string
  /** The only address that is contacted, such as https://huggingface.co. */
  readonly endpoint: string
  /** Sent to the endpoint only. */
  readonly token?: string | undefined
}

/** A voice file is a few seconds of audio or a small embedding. */
const largestVoiceBytes = 64 * 1024 * 1024
const fetchMs = 20_000

/**
 * The path of a hub voice in one form, `owner/repository/file`. A path of two parts belongs to the server's own voice
 * repository. Throws `invalid` for anything that could leave the hub's space: other hosts, local paths, `..`.
 */
export function parseHubPath(text: string, repository: string | undefined): string {
  const path = text.trim().replace(/^hf:\/\//, '')
  const parts = path.split('/')
  const whole = parts.length === 2 && repository ? [...repository.split('/'), ...parts] : parts
  const sound =
    whole.length >= 3 && whole.length <= 12 && whole.every((part) => /^[\w+@ ()-][\w.+@ ()-]{0,120}$/.test(part))
  if (!sound || !/\.(?:wav|safetensors)$/.test(path))
    throw new AppError('invalid', 'Invalid path of a voice on the model hub', {
      details: ['write owner/repository/file.wav or owner/repository/file.safetensors, without .. and without a host'],
    })
  return whole.join('/')
}

/**
 * Reads voices from the models folder, else from the hub's endpoint and no other host: a redirect to another host is
 * refused. Throws `not_found` when the hub has no such file and `unavailable` when it cannot be reached.
 */
export function createVoiceFetcher({ modelsFolder, endpoint, token }: HubOptions): FetchVoice {
  return async (path, signal) => {
    const local = join(modelsFolder, ...path.split('/'))
    if ((await stat(local).catch(() => undefined))?.isFile()) return local
    const [owner, repository, ...file] = path.split('/').map(encodeURIComponent)
    if (token && URL.canParse(endpoint) && isReadable(new URL(endpoint)))
      throw new AppError('configuration', 'HF_TOKEN would travel unencrypted: HF_ENDPOINT must be an https address')
    const url = `${endpoint.replace(/(?<!\/)\/+$/, '')}/${owner}/${repository}/resolve/main/${file.join('/')}`
    const bytes = await download(url, token, signal)
    makeFolder(dirname(local), 0o777)
    const part = `${local}.${process.pid}.part`
    try {
      await writeFile(part, bytes)
      const found = await signatureMismatch(part, path)
      if (found !== undefined) throw unreachable(`its file for ${path} is ${found}`)
      await rename(part, local)
    } finally {
      await rm(part, { force: true })
    }
    return local
  }
}

/** Whether a request there is sent unencrypted over a public network. */
function isReadable({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && hostRange(hostname) === 'public'
}

async function download(url: string, token: string | undefined, signal?: AbortSignal): Promise<Buffer> {
  const deadline = startDeadline(fetchMs, signal)
  try {
    let target = url
    for (let hops = 0; hops < 5; hops++) {
      const response = await fetch(target, {
        redirect: 'manual',
        headers: token ? { authorization: `Bearer ${token}` } : {},
        signal: deadline.signal,
      })
      const next = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null
      if (!next) return await readAnswer(response)
      await response.body?.cancel()
      target = new URL(next, target).href
      if (new URL(target).origin !== new URL(url).origin)
        throw unreachable('it sends this file from another host; put it into the models folder (AICHAT_MODELS_DIR)')
    }
    throw unreachable('it redirects in circles')
  } catch (reason) {
    signal?.throwIfAborted()
    throw reason instanceof AppError
      ? reason
      : unreachable(connectionSentence(reason) ?? 'it cannot be reached', reason)
  } finally {
    deadline.clear()
  }
}

async function readAnswer(response: Response): Promise<Buffer> {
  const tooLong = () => new AppError('invalid', 'The voice file is larger than 64 MiB')
  if (response.ok) return response.body ? readBytes(response.body, largestVoiceBytes, tooLong) : Buffer.of()
  await response.body?.cancel()
  if (response.status === 404) throw new AppError('not_found', 'Voice file not found on the model hub')
  if (response.status === 401 || response.status === 403)
    throw unreachable('it asks for a token: set HF_TOKEN to one that may read this repository')
  throw unreachable(`it answered ${response.status}`)
}

function unreachable(reason: string, cause?: unknown): AppError {
  return new AppError('unavailable', 'The voice could not be fetched from the model hub', { details: [reason], cause })
}
