import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to a server that can be cut and opened again, as a network or a restart of the server does. */
export interface CuttableWay {
  readonly url: string
  /** Breaks all connections and refuses new ones. */
  cut(): void
  open(): void
  close(): Promise<void>
}

export async function openCuttableWay(target: string): Promise<CuttableWay> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let isOpen = true
  const server = createServer((near) => {
    if (!isOpen) return void near.resetAndDestroy()
    const far = connect(Number(port), hostname)
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const breakAll = () => {
    for (const socket of sockets) socket.resetAndDestroy()
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut() {
      isOpen = false
      breakAll()
    },
    open() {
      isOpen = true
    },
    async close() {
      breakAll()
      server.close()
      await once(server, 'close')
    },
  }
}
