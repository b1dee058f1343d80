import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import { escapedText, givenText } from '../../../src/storage/postgres/escaped-text.ts'
import { migrate } from '../../../src/storage/postgres/schema.ts'
import type { Database, Sql, Transaction, TransactionOptions } from '../../../src/storage/postgres/sql.ts'
import { readVector } from '../../../src/storage/postgres/vector-wire.ts'
import { remember, reset } from './reset.ts'

/**
 * PostgreSQL with pgvector in this process, in memory. It has one session: all its databases are the same one, and a transaction
 * waits for the end of the one before, even of another database. It obeys no timeout and has no connection to lose.
 */
export interface InProcess {
  /** One more connection, as it were. */
  database(): Database
  /** Makes it as after its migrations, without making the tables anew. */
  reset(): Promise<void>
  close(): Promise<void>
}

/** Numbers of types (https://www.postgresql.org/docs/current/datatype-oid.html): values are as the driver `pg` gives them. */
const bytea = 17
const parsed = { 20: Number, 25: givenText, 1700: Number }

/** Milliseconds after which a transaction that waits for the session fails, as one that waits for a lock does. */
const lockTimeout = 5000

/** Starts one with the product's tables: 4 s of CPU time, so that a test file has one and resets it. */
export async function openInProcess(): Promise<InProcess> {
  const pglite = await PGlite.create({
    extensions: { vector },
    parsers: { ...parsed, [bytea]: (text: string) => Buffer.from(text.slice(2), 'hex') },
    serializers: { [bytea]: (bytes: Uint8Array) => `\\x${Buffer.from(bytes).toString('hex')}` },
  })
  const session = createSession()
  const inProcess: InProcess = {
    database: () => databaseOn(pglite, session),
    reset: () => session(async () => void (await pglite.exec(reset))),
    close: () => pglite.close(),
  }
  await pglite.exec('CREATE EXTENSION IF NOT EXISTS vector')
  const { rows } = await pglite.query<{ oid: number }>("SELECT 'vector'::regtype::oid::int AS oid")
  // The driver sends a Buffer in the type's binary format, this one every value as text.
  pglite.serializers[rows[0]!.oid] = (bytes: Buffer) => `[${readVector(bytes).join(',')}]`
  await migrate(inProcess.database())
  await pglite.exec(remember)
  return inProcess
}

/** Does one piece of work after the other; rejects with `lock_not_available` for one that waited too long. */
type Session = <R>(work: () => Promise<R>) => Promise<R>

function createSession(): Session {
  let last: Promise<unknown> = Promise.resolve()
  return async (work) => {
    const before = last
    let release = () => {}
    last = new Promise<void>((resolve) => {
      release = resolve
    }).then(() => before)
    try {
      await within(before)
      return await work()
    } finally {
      release()
    }
  }
}

async function within(turn: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((_, reject) => {
    const reason = new Error('PGlite has one session, which another transaction holds')
    timer = setTimeout(() => reject(Object.assign(reason, { code: '55P03' })), lockTimeout)
  })
  try {
    await Promise.race([turn, late])
  } finally {
    clearTimeout(timer)
  }
}

function databaseOn(pglite: PGlite, session: Session): Database {
  let isClosed = false
  let writes = 0
  const leaving = new Set<() => Promise<void>>()
  const inSession: Session = async (work) => {
    if (isClosed) throw new Error('Client was closed')
    return session(work)
  }
  const direct = statementsOn(pglite)
  return {
    rows: (text, values) => inSession(() => direct.rows(text, values)),
    row: (text, values) => inSession(() => direct.row(text, values)),
    run: (text, values) => inSession(() => direct.run(text, values)),
    // Nothing is kept.
    writes: () => writes++,
    transaction: (work, options = {}) =>
      inSession(async () => {
        await pglite.exec(beginning(options))
        try {
          const result = await work(transactionOn(pglite))
          await pglite.exec(options.last ? `${options.last}; COMMIT` : 'COMMIT')
          return result
        } catch (reason) {
          await pglite.exec('ROLLBACK')
          throw reason
        }
      }),
    async listen(channel, onNotify) {
      const leave = await pglite.listen(channel, onNotify)
      leaving.add(leave)
      return { rows: (text, values) => inSession(() => direct.rows(text, values)), close: () => void leave() }
    },
    name: 'pglite:',
    drop() {},
    async close() {
      isClosed = true
      for (const leave of leaving) await leave()
    },
  }
}

function beginning({ level = 'read committed', readOnly = false, first }: TransactionOptions): string {
  return `BEGIN ISOLATION LEVEL ${level}${readOnly ? ' READ ONLY' : ''}${first ? `; ${first}` : ''}`
}

function statementsOn(pglite: PGlite): Sql {
  const query = <R>(text: string, values: readonly unknown[] = []) =>
    pglite.query<R>(
      text,
      values.map((value) => (value === undefined ? null : storable(value))),
    )
  return {
    rows: async <R>(text: string, values?: readonly unknown[]) => (await query<R>(text, values)).rows,
    row: async <R>(text: string, values?: readonly unknown[]) => (await query<R>(text, values)).rows[0],
    run: async (text, values) => {
      const { rows, affectedRows } = await query(text, values)
      return affectedRows || rows.length
    },
  }
}

function storable(value: unknown): unknown {
  if (typeof value === 'string') return escapedText(value)
  return Array.isArray(value) ? value.map(storable) : value
}

function transactionOn(pglite: PGlite): Transaction {
  return {
    ...statementsOn(pglite),
    script: async (text) => void (await pglite.exec(text)),
  }
}
