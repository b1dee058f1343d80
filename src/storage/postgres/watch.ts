import { noAnswer } from './silence.ts'
import type { Database, Listener } from './sql.ts'

/** Milliseconds between two polls while the database answers, and while it is away. */
const pollMs = 250
const awayMs = 100

/**
 * Milliseconds after which a poll without an answer breaks all connections: a stalled network tells nothing by itself. With the
 * pause before the poll a request that waits fails within a second.
 */
const answerMs = 750

/** The polls of a process that starts (two seconds) and the milliseconds that each may take: it is busy loading. */
const startPolls = 8
const startMs = 5000

export interface WatchParts<Row extends object> {
  readonly db: Pick<Database, 'listen' | 'drop'>
  readonly channel: string
  readonly text: string
  /** Receives the rows of each poll and its start in ms of `now`. May throw why this database is unfit. */
  onAnswer(rows: readonly Row[], askedAt: number): void
  /** Called for each poll that failed. */
  onAway(reason: unknown): void
  readonly now: () => number
}

/** Polls a database for as long as a service runs, and at once after a notification. */
export interface Watch {
  close(): Promise<void>
}

/** Begins to poll; failures end nothing. */
export function startWatch<Row extends object>(parts: WatchParts<Row>): Watch {
  const { db, channel, text, onAnswer, onAway, now } = parts
  let listener: Listener | undefined
  let isClosed = false
  let isDue = false
  let rouse = () => {}

  async function poll(): Promise<void> {
    listener ??= await db.listen(channel, () => {
      isDue = true
      rouse()
    })
    isDue = false
    const askedAt = now()
    const rows = await listener.rows<Row>(text)
    if (!isClosed) onAnswer(rows, askedAt)
  }

  async function run(): Promise<void> {
    let failures = 0
    let answers = 0
    while (!isClosed) {
      let wait = pollMs
      try {
        await inTime(poll(), answers < startPolls ? startMs : answerMs, db)
        failures = 0
        answers++
      } catch (reason) {
        listener?.close()
        listener = undefined
        if (isClosed) return
        // A connection that ended alone is made again at once.
        if (failures++ === 0 && (reason as { code?: unknown }).code !== stalled) continue
        onAway(reason)
        isDue = false
        wait = awayMs
      }
      if (!isDue && !isClosed) await rest(wait)
    }
  }

  function rest(wait: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, wait)
      timer.unref()
      rouse = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  const running = run()
  return {
    async close() {
      isClosed = true
      listener?.close()
      rouse()
      await running
    },
  }
}

/** Waits for an answer; breaks all connections where none comes. */
async function inTime(answer: Promise<void>, longest: number, db: Pick<Database, 'drop'>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      // Where this process itself stood still, the answer may wait to be read.
      setImmediate(() => setImmediate(() => reject(noAnswer(longest))))
    }, longest)
  })
  try {
    await Promise.race([answer, late])
  } catch (reason) {
    answer.catch(() => {})
    if ((reason as { code?: unknown }).code === stalled) db.drop(reason as Error)
    throw reason
  } finally {
    clearTimeout(timer)
  }
}

const stalled = 'ETIMEDOUT'
