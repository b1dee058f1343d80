import {
  Client,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/client'
import type { ServerTool, ToolResult, ToolServer } from '../chat/chat.ts'
import { AppError } from '../errors.ts'
import { createJsonMeter, printableLine } from '../formats/formats.ts'
import type { Send } from '../http/http.ts'
import { version } from '../version.ts'
import { guardedFetch } from './guarded-fetch.ts'
import { contentOfResult } from './result-content.ts'
import { createServerProcess, longestMessage, type ServerCommand, type ServerProcess } from './server-process.ts'

/** A server to connect to: a command, or an address with headers. */
export type ServerAddress = ServerCommand | { readonly url: string; readonly headers: Readonly<Record<string, string>> }

export interface ConnectOptions {
  readonly name: string
  readonly address: ServerAddress
  /** The way out for a server with an address. */
  readonly send: Send
  /** How long a call may take: milliseconds. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

/** How long a server may take to start, and to list its tools: npx may have to fetch it first. Milliseconds. */
const startMs = 60_000

/** Levels of nesting in the description of a tool. */
const deepest = 64

/** Pages of a server's list of tools, and its tools, that are read. */
const mostPages = 20
const mostTools = 1_000

/** Connects to a server, offering no sampling, elicitation or roots. Throws `unavailable` or `timeout` with stderr. */
export async function connectServer({ name, address, send, timeoutMs, signal }: ConnectOptions): Promise<ToolServer> {
  const inFlight = new Set<AbortController>()
  let isStale = true
  let known: readonly ServerTool[] = []
  const onTooLong = () => {
    for (const call of inFlight) call.abort(tooLong(name))
  }
  const outdate = () => {
    isStale = true
  }
  const spawned = 'command' in address ? createServerProcess(address, onTooLong) : undefined
  const transport = 'command' in address ? spawned! : httpTransport(address, guardedFetch(send, onTooLong))
  const client = new Client(
    { name: 'aichat', version: version() },
    {
      capabilities: {},
      listMaxPages: mostPages,
      inputRequired: { autoFulfill: false },
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: outdate } },
      // Output schemas come from the server, and a pattern in one could hang this process: results are passed on
      // unchecked.
      jsonSchemaValidator: {
        getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
      },
    },
  )
  const limits = { timeout: startMs, maxTotalTimeout: startMs, ...(signal && { signal }) }
  try {
    await client.connect(transport, limits)
  } catch (thrown) {
    await closeAll()
    if (signal?.aborted) throw thrown
    throw failure(thrown, 'does not answer as an MCP server', startMs)
  }
  return {
    name,
    origin: 'command' in address ? JSON.stringify([address.command, ...address.args]) : address.url,
    async tools({ fresh = false } = {}) {
      if (!fresh && !isStale) return known
      isStale = false
      try {
        const { tools } = await ended(undefined, (signal) =>
          client.listTools(undefined, { timeout: startMs, cacheMode: 'refresh', signal }),
        )
        known = tools.slice(0, mostTools).map(toolOf).filter(isSound)
        return known
      } catch (thrown) {
        isStale = true
        throw failure(thrown, 'does not list its tools', startMs)
      }
    },
    async call(tool, args, stop): Promise<ToolResult> {
      try {
        const limits = { timeout: timeoutMs, maxTotalTimeout: timeoutMs }
        const asked = { name: tool, arguments: { ...args } }
        return contentOfResult(await ended(stop, (signal) => client.callTool(asked, { ...limits, signal })))
      } catch (thrown) {
        if (stop?.aborted) throw thrown
        throw failure(thrown, `failed at ${printableLine(tool)}`)
      }
    },
    close: closeAll,
  }

  /** Runs a request that ends with the caller's signal, and with an answer that is too long. */
  async function ended<T>(stop: AbortSignal | undefined, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const ending = new AbortController()
    const follow = () => ending.abort(stop?.reason)
    stop?.throwIfAborted()
    stop?.addEventListener('abort', follow, { once: true })
    inFlight.add(ending)
    try {
      return await run(ending.signal)
    } catch (thrown) {
      throw ending.signal.aborted ? ending.signal.reason : thrown
    } finally {
      inFlight.delete(ending)
      stop?.removeEventListener('abort', follow)
    }
  }

  async function closeAll(): Promise<void> {
    await client.close().catch(() => {})
    await transport.close().catch(() => {})
  }

  function failure(thrown: unknown, problem: string, limitMs = timeoutMs): AppError {
    if (thrown instanceof AppError) return thrown
    const details = stderrOf(spawned)
    if (thrown instanceof SdkError && thrown.code === SdkErrorCode.RequestTimeout)
      return new AppError('timeout', `The server ${name} gave no answer within ${limitMs / 1000} s`, { details })
    const reason = causeOf(thrown)
    return new AppError('unavailable', `The server ${name} ${problem}: ${reason}`, { details, cause: thrown })
  }
}

function tooLong(name: string): AppError {
  return new AppError('too_large', `The server ${name} answered with more than ${longestMessage} bytes`)
}

function httpTransport(
  { url, headers }: { readonly url: string; readonly headers: Readonly<Record<string, string>> },
  fetch: ReturnType<typeof guardedFetch>,
): Transport {
  return new StreamableHTTPClientTransport(new URL(url), {
    fetch,
    requestInit: { headers: { ...headers }, redirect: 'manual' },
    onInsufficientScope: 'throw',
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1,
      maxReconnectionDelay: 1,
      reconnectionDelayGrowFactor: 1,
    },
  })
}

/** The message of a failure, of its cause where that is ours, in one line. */
function causeOf(thrown: unknown): string {
  const { message, cause } = thrown as Error
  const text = cause instanceof AppError ? cause.message : String(message)
  return printableLine(text).slice(0, 300)
}

/** Lines of npm that name no cause: an update of npm, the place of its log, and prefixes without a text. */
const npmRemark = /^npm (?:notice|warn)\b|^npm (?:error|ERR!)(?:\s*$|.*(?:complete log of this run|_logs))/i

/** The lines of a server's stderr that name the cause: npm's errors, the first of which does, else the last lines. */
function stderrOf(spawned: ServerProcess | undefined): readonly string[] {
  const all = spawned?.stderr().split('\n').map(printableLine) ?? []
  const lines = all.filter((line) => line.trim() !== '' && !npmRemark.test(line))
  const ofNpm = lines.filter((line) => /^npm (?:error|ERR!) /i.test(line))
  const shown = ofNpm.length > 0 ? ofNpm.slice(0, 3) : lines.slice(-3)
  return shown.map((line) => `stderr: ${line.slice(0, 300)}`)
}

/** Whether a description nests shallowly enough for the code that reads it later. */
function isSound(tool: ServerTool): boolean {
  try {
    createJsonMeter('the tool', { depth: deepest }).push(Buffer.from(JSON.stringify(tool)))
    return true
  } catch {
    return false
  }
}

function toolOf({ name, description, inputSchema, outputSchema, annotations }: Tool): ServerTool {
  return { name, description, inputSchema, outputSchema, annotations } as ServerTool
}
