import type { Socket } from 'node:net'
import type { Channel } from './worker-channel.ts'

/** A worker that takes connections. */
export interface Taker {
  readonly channel: Channel
  isTaking: boolean
  /** Connections that it has, or that are on their way to it. */
  connections: number
}

/** Deals connections to workers: each to the one that has the fewest, so that a client with many uses all of them. */
export interface Dealer<T extends Taker> {
  deal(socket: Socket): void
  /** A worker says that it has a connection. */
  taken(id: number): void
  /** Deals the waiting connections to a worker that has just begun to take some. */
  resume(): void
  /** Deals the connections again that were on their way to a worker which has gone: nothing of them was read. */
  redeal(taker: T): void
  /** Closes the connections that no worker took. */
  close(): void
}

/** Connections at the same time, for each worker; those that wait for one count as well. */
const mostPerWorker = 10_000

export function createDealer<T extends Taker>(takers: () => readonly T[]): Dealer<T> {
  const onTheWay = new Map<number, { readonly socket: Socket; readonly taker: T }>()
  let waiting: Socket[] = []
  let last = 0
  let turn = 0
  const deal = (socket: Socket) => {
    const all = takers()
    if (waiting.length >= mostPerWorker * all.length) return void socket.destroy()
    const taker = fewest(all)
    if (!taker) return void waiting.push(socket)
    if (taker.connections >= mostPerWorker) return void socket.destroy()
    const id = ++last
    onTheWay.set(id, { socket, taker })
    taker.connections++
    taker.channel.tell('connection', id, socket, (failure) => {
      if (!failure || !onTheWay.delete(id)) return
      taker.connections--
      taker.isTaking = false
      deal(socket)
    })
  }
  return {
    deal(socket) {
      // A client that goes away meanwhile; its connection ends with the worker's end of it.
      socket.on('error', () => {})
      deal(socket)
    },
    taken(id) {
      onTheWay.get(id)?.socket.destroy()
      onTheWay.delete(id)
    },
    resume() {
      const sockets = waiting
      waiting = []
      for (const socket of sockets) deal(socket)
    },
    redeal(gone) {
      for (const [id, { socket, taker }] of [...onTheWay]) {
        if (taker !== gone) continue
        onTheWay.delete(id)
        deal(socket)
      }
    },
    close() {
      for (const socket of waiting) socket.destroy()
      for (const { socket } of onTheWay.values()) socket.destroy()
      waiting = []
      onTheWay.clear()
    },
  }

  /** The worker with the fewest connections; those with as many take turns. */
  function fewest(all: readonly T[]): T | undefined {
    let found: T | undefined
    turn++
    for (let at = 0; at < all.length; at++) {
      const taker = all[(at + turn) % all.length]!
      if (taker.isTaking && taker.connections < (found?.connections ?? Number.POSITIVE_INFINITY)) found = taker
    }
    return found
  }
}
