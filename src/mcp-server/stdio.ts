import type { Readable } from 'node:stream'
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  parseJSONRPCMessage,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { toAppError } from '../errors.ts'
import { createLineSplitter, parseJson } from '../formats/formats.ts'
import { createPersonaServer } from './persona-server.ts'
import type { Seat } from './seat.ts'

export interface StdioParts {
  readonly input: Readable
  /** Writes to stdout; resolves when more may be written. */
  write(text: string): Promise<void>
  /** Ends the service when it is aborted. */
  readonly signal: AbortSignal
  /** Receives failures that no answer reports to the client. */
  remark(text: string): void
}

/** Serves a persona's memory on stdin and stdout until the client closes stdin or the signal. */
export async function serveSeat(seat: Seat, { input, write, signal, remark }: StdioParts): Promise<void> {
  const transport = createStdioTransport(input, write)
  const served = serveStdio(() => createPersonaServer(seat), {
    transport,
    maxSubscriptions: 0,
    onerror: ({ message }) => remark(message),
  })
  const stop = () => void served.close()
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  await transport.closed
  signal.removeEventListener('abort', stop)
}

/** The longest message of a client: bytes. A memory has at most 20,000 characters. */
const longestMessage = 1024 * 1024

/** Requests that are answered at the same time; further ones wait unread. */
const mostInFlight = 16

/** How long requests in flight may take after the end of stdin: milliseconds. */
const graceMs = 10_000

/** JSON-RPC 2.0, section 5.1. */
const parseError = -32_700
const invalidRequest = -32_600

interface StdioTransport extends Transport {
  /** Resolves when the transport is closed. */
  readonly closed: Promise<void>
}

/**
 * One JSON-RPC message a line. Unlike the transport of the SDK it answers unreadable messages with an error, survives a
 * message that is too long, leaves requests above `mostInFlight` unread, and answers those in flight after the end of
 * stdin. `write` resolves when more may be written.
 */
export function createStdioTransport(input: Readable, write: (text: string) => Promise<void>): StdioTransport {
  const splitLines = createLineSplitter(longestMessage)
  const inFlight = new Set<RequestId>()
  const waiting: string[] = []
  /** Refusals that are being written. */
  let refusals = 0
  let hasEnded = false
  let isClosed = false
  let grace: NodeJS.Timeout | undefined
  let tellClosed = () => {}
  const closed = new Promise<void>((resolve) => {
    tellClosed = resolve
  })
  const transport: StdioTransport = {
    closed,
    async start() {
      input.on('data', onData).once('end', onEnd).once('close', onEnd)
      if (input.readableEnded || input.destroyed) onEnd()
    },
    async send(message) {
      if (isClosed) return
      await write(`${JSON.stringify(message)}\n`)
      if (!('id' in message) || 'method' in message) return
      if (message.id !== undefined) inFlight.delete(message.id)
      proceed()
    },
    async close() {
      if (isClosed) return
      isClosed = true
      clearTimeout(grace)
      input.off('data', onData).off('end', onEnd).off('close', onEnd).pause()
      transport.onclose?.()
      tellClosed()
    },
  }
  return transport

  function onData(bytes: Buffer): void {
    for (const line of splitLines(bytes))
      if ('text' in line) waiting.push(line.text)
      else refuse(invalidRequest, `The message is longer than ${longestMessage} bytes`)
    proceed()
  }

  function onEnd(): void {
    if (hasEnded) return
    hasEnded = true
    grace = setTimeout(() => void transport.close(), graceMs)
    proceed()
  }

  /** Takes messages as far as there is room, and closes after the last answer. */
  function proceed(): void {
    while (!isClosed && inFlight.size + refusals < mostInFlight && waiting.length > 0) take(waiting.shift()!)
    if (isClosed) return
    if (hasEnded && inFlight.size + refusals === 0) void transport.close()
    else if (waiting.length > 0) input.pause()
    else if (!hasEnded) input.resume()
  }

  function take(text: string): void {
    if (text.trim() === '') return
    let value: unknown
    let message: JSONRPCMessage
    try {
      value = parseJson(text, 'the message')
    } catch (thrown) {
      return refuse(parseError, toAppError(thrown).message)
    }
    try {
      message = parseJSONRPCMessage(value)
    } catch {
      return refuse(invalidRequest, 'The line is no JSON-RPC 2.0 message')
    }
    if (isJSONRPCRequest(message)) {
      if (inFlight.has(message.id)) return refuse(invalidRequest, 'A request of this id is in flight')
      inFlight.add(message.id)
    }
    // A cancelled request is not answered.
    else if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled')
      inFlight.delete(message.params?.['requestId'] as RequestId)
    transport.onmessage?.(message)
  }

  function refuse(code: number, message: string): void {
    if (isClosed) return
    refusals++
    const done = () => {
      refusals--
      proceed()
    }
    write(`${JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } })}\n`).then(done, done)
  }
}
