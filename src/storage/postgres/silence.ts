/** A client of the driver, which reports its socket in no type. */
type Connection = object

interface Silence {
  /** Milliseconds that a server may take for an answer; 0 for as long as it likes. */
  longest: number
  /** Statements under way. */
  pending: number
  timer: NodeJS.Timeout | undefined
}

const silences = new WeakMap<Connection, Silence>()

/**
 * Sets how long a connection waits for each answer: milliseconds, 0 forever. The server itself ends slow statements,
 * so that only a silent server or a stalled network exceeds this.
 */
export function boundSilence(client: Connection, longest: number): void {
  const silence = silences.get(client)
  if (silence) silence.longest = longest
  else silences.set(client, { longest, pending: 0, timer: undefined })
}

/** Waits for the answer to a statement on a connection; breaks the connection where none comes in its time. */
export async function answered<R>(client: Connection, answer: Promise<R>): Promise<R> {
  const silence = silences.get(client)
  if (!silence) return answer
  silence.pending++
  silence.timer ??= listen(client, silence)
  try {
    return await answer
  } finally {
    // Answers come in the order of the statements: the time of the next one begins.
    clearTimeout(silence.timer)
    silence.timer = undefined
    if (--silence.pending > 0) silence.timer = listen(client, silence)
  }
}

function listen(client: Connection, silence: Silence): NodeJS.Timeout | undefined {
  if (silence.longest === 0) return undefined
  const timer = setTimeout(() => {
    // Where this process itself stood still, the answer may wait to be read.
    setImmediate(() =>
      setImmediate(() => {
        if (silence.timer === timer) destroyClient(client, noAnswer(silence.longest))
      }),
    )
  }, silence.longest)
  return timer
}

/** Breaks a connection: its statements fail at once, where `end` would wait for them. */
export function destroyClient(client: Connection, reason: Error): void {
  ;(client as unknown as { connection: { stream: { destroy(reason: Error): void } } }).connection.stream.destroy(reason)
}

/** The failure of a server that says nothing for some milliseconds. */
export function noAnswer(ms: number): Error {
  return Object.assign(new Error(`The database did not answer within ${ms} ms`), { code: 'ETIMEDOUT' })
}
