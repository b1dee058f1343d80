import { EventEmitter, once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Something that listens where a database is expected. */
export interface Faulty {
  readonly port: number
  /** The address of a database with this port in place of its own. */
  readonly at: (address: string) => string
  /** How many connections were attempted so far. */
  readonly attempts: () => number
  close(): Promise<void>
}

/** A way to a server that can be cut and stalled. */
export interface FaultyWay extends Faulty {
  /** Resets all connections, and each new one at once, until it is resumed. */
  cut(): void
  /** Passes no byte in either direction, of old and new connections, until it is resumed. */
  stall(): void
  /** Passes the delayed bytes on, and new connections. */
  resume(): void
}

/** Reads the client's first bytes and closes: a server that is shutting down, or a balancer without one. */
export function closesInHandshake(): Promise<Faulty> {
  return listen((socket) => socket.once('data', () => socket.destroy()))
}

/** A connection that a way holds. */
export interface HeldConnection {
  /** Passes its bytes on from now on. */
  pass(): void
  /** Ends it towards the client; resolves once that has closed it too. */
  end(): Promise<void>
}

/** Opens a way to a port of loopback that holds each connection until it is passed or ended. */
export async function openHoldingWay(port: number): Promise<Faulty & { readonly next: () => Promise<HeldConnection> }> {
  const held: HeldConnection[] = []
  const steps = new EventEmitter()
  const servers = new Set<Socket>()
  const faulty = await listen((client) => {
    held.push({
      pass() {
        const server = connect(port, '127.0.0.1')
        servers.add(server)
        server.on('error', () => {}).on('close', () => client.destroy())
        client.on('close', () => server.destroy())
        join([client, server])
      },
      async end() {
        const closed = once(client, 'close')
        client.resume().end()
        await closed
      },
    })
    steps.emit('held')
  })
  return {
    ...faulty,
    async next() {
      for (;;) {
        const first = held.shift()
        if (first) return first
        await once(steps, 'held')
      }
    },
    async close() {
      for (const server of servers) server.destroy()
      await faulty.close()
    },
  }
}

/** Opens a way to a port of loopback. */
export async function openWay(port: number): Promise<FaultyWay> {
  let state: 'open' | 'stalled' | 'cut' = 'open'
  const pairs = new Set<readonly [Socket, Socket]>()
  const faulty = await listen((client) => {
    if (state === 'cut') {
      client.resetAndDestroy()
      return
    }
    const server = connect(port, '127.0.0.1')
    const pair = [client, server] as const
    pairs.add(pair)
    for (const [one, other] of [pair, [server, client]] as const)
      one
        .on('error', () => {})
        .on('close', () => {
          // A stalled way carries no end either.
          if (state === 'stalled') return
          pairs.delete(pair)
          // Delivers the last bytes first.
          other.destroySoon()
        })
    if (state === 'open') join(pair)
  })
  const reset = (pair: readonly [Socket, Socket]) => {
    pairs.delete(pair)
    // A socket that is ending cannot be reset (uv_tcp_close_reset): its handle would stay.
    for (const socket of pair) socket.writableEnded ? socket.destroy() : socket.resetAndDestroy()
  }
  return {
    ...faulty,
    cut() {
      state = 'cut'
      pairs.forEach(reset)
    },
    stall() {
      state = 'stalled'
      for (const [client, server] of pairs) {
        client.unpipe(server).pause()
        server.unpipe(client).pause()
      }
    },
    resume() {
      state = 'open'
      for (const pair of pairs)
        if (pair.some(({ destroyed }) => destroyed)) reset(pair)
        else join(pair)
    },
    async close() {
      pairs.forEach(reset)
      await faulty.close()
    },
  }
}

function join([client, server]: readonly [Socket, Socket]): void {
  client.pipe(server)
  server.pipe(client)
}

async function listen(answer: (socket: Socket) => void): Promise<Faulty> {
  let attempts = 0
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    attempts++
    open.add(socket)
    socket.on('error', () => {}).on('close', () => open.delete(socket))
    answer(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    at: (address) => Object.assign(new URL(address), { port: String(port) }).href,
    attempts: () => attempts,
    async close() {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
