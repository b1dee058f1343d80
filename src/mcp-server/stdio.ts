import type { Readable } from 'node:stream'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { createPersonaServer } from './persona-server.ts'
import type { Seat } from './seat.ts'
import { createStdioTransport } from './stdio-transport.ts'

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
