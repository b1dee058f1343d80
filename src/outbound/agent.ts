import { type LookupOptions, lookup as resolve } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { Agent, request as exchange } from 'undici'
import type { OutboundReply, Send } from '../chat/provider.ts'
import { AppError } from '../errors.ts'
import { addressRange, hostRange } from '../plugins/manifest.ts'

export interface Outbound {
  readonly send: Send
  close(): Promise<void>
}

/** What is left of a body after its last event is read up to this many bytes, to keep the connection. */
const leftOver = 16 * 1024

/**
 * The one way out: HTTP with kept connections. Follows no redirect, since a redirect would carry a key to another host.
 * Every address that is dialled is judged, also those a name resolves to: never link-local or metadata addresses, and
 * private ones only where `allowPrivate` says so.
 */
export function openOutbound({ allowPrivate }: { readonly allowPrivate: boolean }): Outbound {
  // The connect timeout belongs to the pool, so there is a pool for each one in use; in practice there is one.
  const agents = new Map<number, Agent>()

  return {
    async send(request) {
      const { hostname } = new URL(request.url)
      refuse(hostRange(hostname), hostname)
      const reply = await exchange(request.url, {
        method: request.method,
        headers: request.headers,
        body: request.body ?? null,
        dispatcher: agentFor(request.timeouts.connect),
        headersTimeout: request.timeouts.firstByte,
        bodyTimeout: request.timeouts.idle,
        ...(request.signal && { signal: request.signal }),
      })
      return outboundReply(reply.statusCode, reply.headers, reply.body)
    },
    async close() {
      await Promise.all([...agents.values()].map((agent) => agent.destroy()))
    },
  }

  function agentFor(connectMs: number): Agent {
    let agent = agents.get(connectMs)
    if (!agent) {
      agent = new Agent({
        connections: 256,
        pipelining: 1,
        keepAliveTimeout: 30_000,
        maxHeaderSize: 16 * 1024,
        connect: { timeout: connectMs, lookup: judgedLookup },
      })
      agents.set(connectMs, agent)
    }
    return agent
  }

  function refuse(range: ReturnType<typeof addressRange>, host: string): void {
    if (range === 'forbidden')
      throw new AppError(
        'configuration',
        `${host} is a link-local, metadata or reserved address, which is never called`,
      )
    if (range !== 'public' && !allowPrivate)
      throw new AppError('configuration', `${host} is a private address; these are switched off (PLUGIN_ALLOW_PRIVATE)`)
  }

  /** As node:dns lookup, but a name that leads to a forbidden address leads nowhere. */
  function judgedLookup(hostname: string, options: LookupOptions, done: Parameters<LookupFunction>[2]): void {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      try {
        if (error) throw error
        for (const { address } of addresses) refuse(addressRange(address), hostname)
        if (options.all) done(null, addresses)
        else done(null, addresses[0]!.address, addresses[0]!.family)
      } catch (reason) {
        done(reason as NodeJS.ErrnoException, [])
      }
    })
  }
}

type Body = Awaited<ReturnType<typeof exchange>>['body']

function outboundReply(status: number, headers: OutboundReply['headers'], body: Body): OutboundReply {
  return {
    status,
    headers,
    body,
    async text(limit) {
      // Most answers fit one piece; joining bytes first keeps a character whole that two pieces share.
      const pieces: Uint8Array[] = []
      let size = 0
      for await (const piece of body) {
        size += piece.length
        if (size > limit) {
          body.destroy()
          throw new Error(`the answer is longer than ${Math.round(limit / 1024 / 1024)} MiB`)
        }
        pieces.push(piece)
      }
      return pieces.length === 1 ? Buffer.from(pieces[0]!).toString('utf8') : Buffer.concat(pieces).toString('utf8')
    },
    discard() {
      body
        .on('error', () => {})
        .dump({ limit: leftOver })
        .catch(() => {})
    },
  }
}
