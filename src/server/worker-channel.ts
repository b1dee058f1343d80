import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import { AppError, toAppError } from '../errors.ts'
import { errorOf, type Failure, failureOf } from '../process/process.ts'

/** The processes of a service talk over the channel that Node opens to a child: a name, its input, and for a question an answer. */
export type Channel = ReturnType<typeof openChannel>

/** Handlers of one side by message name; the result of a question is its answer. */
// biome-ignore lint/suspicious/noExplicitAny: both sides are the same program, and each name has one kind of input
export type Heard = Readonly<Record<string, (input: any, socket: Socket | undefined) => unknown>>

type Port = Pick<ChildProcess, 'send' | 'on' | 'connected'>

interface Message {
  readonly name?: string
  readonly input?: unknown
  /** The number of a question, or of the question that this answers. */
  readonly question?: number
  readonly value?: unknown
  readonly failure?: Failure
}

interface Waiting {
  readonly resolve: (value: never) => void
  readonly reject: (reason: unknown) => void
  readonly timer: NodeJS.Timeout | undefined
}

/** Opens the channel on this side. Messages with a name that is not heard are dropped. */
export function openChannel(port: Port | NodeJS.Process, heard: Heard) {
  const waiting = new Map<number, Waiting>()
  let last = 0
  const send = (message: Message, socket?: Socket, sent: (failure: Error | null) => void = () => {}) => {
    if (!port.connected) return sent(new ChannelClosed())
    // Kept open until the other side says that it has it, so that a socket of a killed process goes to another one.
    port.send!(message, socket, { keepOpen: true }, sent)
  }
  port.on('message', (message: Message, socket?: Socket) => {
    const { name, input, question } = message
    if (name === undefined) return settle(message)
    const work = heard[name]
    if (!work) return
    if (question === undefined) return void work(input, socket)
    void Promise.resolve()
      .then(() => work(input, socket))
      .then(
        (value) => send({ question, value }),
        (reason) => send({ question, failure: failureOf(toAppError(reason)) }),
      )
  })
  port.on('disconnect', () => {
    for (const { reject, timer } of waiting.values()) {
      clearTimeout(timer)
      reject(new ChannelClosed())
    }
    waiting.clear()
  })
  return {
    /** Sends a message; `sent` hears of one that could not be sent, with a socket too. */
    tell: (name: string, input?: unknown, socket?: Socket, sent?: (failure: Error | null) => void) =>
      send({ name, input }, socket, sent),
    /** Asks; rejects with the failure of the other side, `timeout` after so many milliseconds, `unavailable` once it has gone. */
    ask: <T>(name: string, input?: unknown, withinMs?: number) =>
      new Promise<T>((resolve, reject) => {
        const question = ++last
        const late = () => {
          waiting.delete(question)
          reject(new AppError('timeout', `A process of this service did not answer in ${withinMs} ms`))
        }
        const timer = withinMs === undefined ? undefined : setTimeout(late, withinMs)
        waiting.set(question, { resolve, reject, timer })
        send({ name, input, question }, undefined, (failure) => {
          if (!failure || !waiting.delete(question)) return
          clearTimeout(timer)
          reject(new ChannelClosed())
        })
      }),
  }

  function settle({ question, value, failure }: Message): void {
    const asked = waiting.get(question!)
    if (!asked) return
    waiting.delete(question!)
    clearTimeout(asked.timer)
    if (failure) asked.reject(errorOf(failure))
    else asked.resolve(value as never)
  }
}

/** The other side has gone. */
export class ChannelClosed extends AppError {
  constructor() {
    super('unavailable', 'A process of this service has ended', { retryAfter: 1 })
  }
}
