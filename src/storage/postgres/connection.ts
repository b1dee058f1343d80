import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { createWorkQueue } from '../../process/process.ts'
import { databaseName } from '../../settings/settings.ts'
import { allOf } from './all-of.ts'
import { createConnectAttempts } from './attempts.ts'
import { createClientPool } from './client-pool.ts'
import { codeOf, isAway, isLeftAlone, isSerialisationFailure } from './errors.ts'
import { escapedText, givenText } from './escaped-text.ts'
import { mayTryAgain } from './patience.ts'
import { answered, boundSilence, destroyClient } from './silence.ts'
import type { Database, Sql, Transaction, TransactionOptions } from './sql.ts'
import { withCheckedTls } from './tls-mode.ts'

/** Transactions at a time of one process. */
const mostTransactions = 8

/** Held ones of one process, which write or read whole personas: each on a connection of its own. */
const mostHeld = { writing: 4, reading: 8 } as const

/**
 * Milliseconds for a connection to be made, with its login. The first one of a process may take longer, since nothing waits for
 * it yet, and so may one beside others that are open: the machine of their server is busy, and not away.
 */
const connectTimeout = 1000
const patientConnectTimeout = 5000

/** Milliseconds that a statement may take, and wait for a lock. */
const statementTimeout = 10_000
const lockTimeout = 5000

/** Milliseconds that a server which ends statements in their time is waited for. */
const usualSilence = statementTimeout + 2000

/** Milliseconds after which an idle connection asks whether its server is still there. */
const keepAliveDelay = 10_000

/** Attempts of a transaction that the server could not serialise, or beside which a row that it builds on was removed. */
const mostAttempts = 3

/** Compiling a query costs more than any query here takes; a plan that fits all parameters is the right one for scopes of any size. */
const sessionSettings = {
  jit: 'off',
  statement_timeout: String(statementTimeout),
  lock_timeout: String(lockTimeout),
  idle_in_transaction_session_timeout: '60000',
} as const

/** Numbers of types (https://www.postgresql.org/docs/current/datatype-oid.html): sums are numeric. */
const parsers: Readonly<Record<number, (text: string) => unknown>> = { 20: Number, 1700: Number, 25: givenText }

const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    return (format !== 'binary' && parsers[oid]) || pg.types.getTypeParser(oid, format)
  },
}

export interface DatabaseOptions {
  /** Milliseconds that an answer is waited for, see silence.ts. */
  readonly longestSilence?: number
}

/**
 * Opens a PostgreSQL database by its URL; connects with the first statement. A pooler that refuses settings at the start of a
 * session (PgBouncer) gets them with each transaction instead. No statement has a name, so that a pooler may run each one on
 * another connection.
 */
export function openDatabase(url: string, { longestSilence = usualSilence }: DatabaseOptions = {}): Database {
  const attempts = createConnectAttempts()
  /** False once a pooler refused settings at the start of a session. */
  let takesSettings = true
  let hasConnected = false
  const connectionString = withCheckedTls(url)
  const clientSettings = (): pg.ClientConfig => ({
    connectionString,
    types: types as pg.CustomTypesConfig,
    connectionTimeoutMillis: hasConnected && open.size === 0 ? connectTimeout : patientConnectTimeout,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveDelay,
    application_name: 'aichat',
    ...(takesSettings && {
      options: Object.entries(sessionSettings)
        .map(([name, value]) => `-c ${name}=${value}`)
        .join(' '),
    }),
  })
  /** Those that are connected, or are being connected. */
  const live = new Set<pg.Client>()
  const open = new Set<pg.Client>()
  let reading: Promise<pg.Client> | undefined
  const places = {
    short: createWorkQueue({ running: mostTransactions }),
    // A replacement that is written waits for a reader, which backs the persona up: they never wait for each other's places.
    writing: createWorkQueue({ running: mostHeld.writing }),
    reading: createWorkQueue({ running: mostHeld.reading }),
  }
  const pool = createClientPool(() => connected({ pipeline: true }))
  const closing = new AbortController()
  // Each transaction that waits for a place listens to it, any number of them.
  setMaxListeners(0, closing.signal)

  async function connected(settings: pg.ClientConfig & { pipeline?: boolean } = {}): Promise<pg.Client> {
    closing.signal.throwIfAborted()
    attempts.allow()
    const withSettings = takesSettings
    const client = new pg.Client({ ...clientSettings(), ...settings })
    // Each statement under way fails by itself.
    client.on('error', () => forget(client))
    client.on('end', () => forget(client))
    live.add(client)
    try {
      await client.connect()
      boundSilence(client, longestSilence)
      hasConnected = true
      if (live.has(client)) open.add(client)
      attempts.succeeded()
      return client
    } catch (reason) {
      forget(client)
      if (withSettings && /unsupported startup parameter/i.test(String((reason as Error).message))) {
        takesSettings = false
        return connected(settings)
      }
      if (isAway(reason)) attempts.failed(reason)
      throw reason
    }
  }

  function forget(client: pg.Client): void {
    pool.forget(client)
    open.delete(client)
    if (!live.delete(client)) return
    client.end().catch(() => {})
  }

  /** The connection of all reads that stand alone: pipelined, and made again after it ended. */
  function reader(): Promise<pg.Client> {
    reading ??= connected({ pipeline: true }).then(
      (client) => {
        client.once('end', () => {
          reading = undefined
        })
        if (!live.has(client)) reading = undefined
        return client
      },
      (reason) => {
        reading = undefined
        throw reason
      },
    )
    return reading
  }

  async function take({ isHeld, readOnly }: TransactionOptions = {}): Promise<Taken> {
    const place = isHeld ? places[readOnly ? 'reading' : 'writing'] : places.short
    const leave = await place.enter(closing.signal)
    try {
      const client = isHeld ? await connected({ pipeline: true }) : await pool.take()
      const give = () => {
        if (isHeld) forget(client)
        else pool.give(client)
        leave()
      }
      return { client, give }
    } catch (reason) {
      leave()
      throw reason
    }
  }

  async function attempt<R>(
    work: (tx: Transaction) => Promise<R>,
    options: TransactionOptions,
    progress: Progress,
  ): Promise<R> {
    const { client, give } = await take(options)
    progress.stage = 'beginning'
    try {
      const begun = answered(client, client.query(beginning(options, takesSettings))).then(() => {
        const { statementTimeout: longest = statementTimeout } = options
        boundSilence(client, longest > statementTimeout ? 0 : longest && longestSilence)
        progress.stage = 'working'
      })
      begun.catch(() => {})
      // The first statements go with it; where it fails, so do they. Neither continues behind the end of the transaction.
      const [result] = await allOf([work(transactionOn(client)), begun])
      progress.stage = 'committing'
      await answered(client, client.query(options.last ? `${options.last}; COMMIT` : 'COMMIT'))
      return result
    } catch (reason) {
      if (isAway(reason)) lose(client, reason)
      else await answered(client, client.query('ROLLBACK')).catch(() => forget(client))
      throw reason
    } finally {
      boundSilence(client, longestSilence)
      give()
    }
  }

  /** Ends the other connections to a server that refuses writes now or shuts down. */
  function lose(client: pg.Client, reason: unknown): void {
    forget(client)
    if (codeOf(reason) === readOnlyState) drop(reason as Error)
    else if (codeOf(reason).startsWith('57P')) for (const one of [...pool.free()]) forget(one)
  }

  function drop(reason: Error): void {
    attempts.failed(reason)
    for (const client of [...live]) {
      destroyClient(client, reason)
      forget(client)
    }
  }

  /** Reads that stand alone; asked again where their connection ended, since they change nothing. */
  async function read<R>(ask: (sql: Sql) => Promise<R>): Promise<R> {
    for (let made = 1; ; made++) {
      let client: pg.Client | undefined
      try {
        client = await reader()
        const connected = client
        return await ask(statementsOf(() => connected))
      } catch (reason) {
        if (!isAway(reason) || closing.signal.aborted) throw reason
        if (client && codeOf(reason) === readOnlyState) drop(reason as Error)
        if (!(client && made === 1) && !(await mayTryAgain())) throw reason
      }
    }
  }

  let writes = 0
  const database: Database = {
    rows: (text, values) => read((sql) => sql.rows(text, values)),
    row: (text, values) => read((sql) => sql.row(text, values)),
    async run(text, values) {
      const { client, give } = await patient(take)
      try {
        return await statementsOf(() => client).run(text, values)
      } catch (reason) {
        if (isAway(reason)) lose(client, reason)
        throw reason
      } finally {
        give()
      }
    },
    async transaction(work, options = {}) {
      for (let made = 1; ; made++) {
        const progress: Progress = { stage: 'connecting' }
        try {
          return await attempt(work, options, progress)
        } catch (reason) {
          const isLast = made >= mostAttempts
          if (isAway(reason)) {
            // The connection had ended before: nothing has happened yet.
            const isStale = progress.stage === 'beginning' && !isLast
            if (!isStale && (progress.stage === 'committing' || !(await mayTryAgain()))) throw reason
          } else {
            if (!(isSerialisationFailure(reason) || isLeftAlone(reason)) || isLast) throw reason
            await delay(made * 10 * (1 + Math.random()))
          }
        } finally {
          if (!options.leavesPersonas && !options.readOnly) writes++
        }
      }
    },
    writes: () => writes,
    async listen(channel, onNotify) {
      const client = await connected()
      client.on('notification', onNotify)
      await answered(client, client.query(`LISTEN ${client.escapeIdentifier(channel)}`))
      return { rows: statementsOf(() => client).rows, close: () => forget(client) }
    },
    name: databaseName(url),
    drop,
    async close() {
      closing.abort(new Error('Client was closed'))
      const clients = [...live]
      live.clear()
      await Promise.all(clients.map(ended))
    },
  }
  return database
}

/** Milliseconds for a server to take leave. */
const leaveMs = 1000

/** Ends a connection; at once where the network is stalled. */
async function ended(client: pg.Client): Promise<void> {
  const timer = setTimeout(() => destroyClient(client, new Error('Connection terminated')), leaveMs)
  await client.end().catch(() => {})
  clearTimeout(timer)
}

/** SQLSTATE of a write at a standby, or at a server that was made read-only. */
const readOnlyState = '25006'

/** How far a transaction came; one that failed at its commit may have happened. */
interface Progress {
  stage: 'connecting' | 'beginning' | 'working' | 'committing'
}

/** Connects, and again where the work under way has the patience. */
async function patient<R>(connect: () => Promise<R>): Promise<R> {
  for (;;)
    try {
      return await connect()
    } catch (reason) {
      if (!isAway(reason) || !(await mayTryAgain())) throw reason
    }
}

interface Taken {
  readonly client: pg.Client
  /** Gives the connection back, and its place. */
  give(): void
}

function statementsOf(client: () => Promise<pg.Client> | pg.Client): Sql {
  const query = async (text: string, values?: readonly unknown[]) => {
    const asked = await client()
    return answered(asked, asked.query(text, values?.map(storable)))
  }
  return {
    rows: async <R>(text: string, values?: readonly unknown[]) => (await query(text, values)).rows as R[],
    row: async <R>(text: string, values?: readonly unknown[]) => (await query(text, values)).rows[0] as R | undefined,
    run: async (text, values) => (await query(text, values)).rowCount ?? 0,
  }
}

/** A value with its texts as the database keeps them. */
function storable(value: unknown): unknown {
  if (typeof value === 'string') return escapedText(value)
  return Array.isArray(value) ? value.map(storable) : value
}

function transactionOn(client: pg.Client): Transaction {
  return {
    ...statementsOf(() => client),
    script: async (text) => void (await answered(client, client.query(text))),
  }
}

/** Begins a transaction and sets its parameters in one statement: `SET LOCAL` is safe behind a pooler. */
function beginning({ level, readOnly, statementTimeout, first }: TransactionOptions, takesSettings: boolean): string {
  const modes = [level && `ISOLATION LEVEL ${level.toUpperCase()}`, readOnly && 'READ ONLY'].filter(Boolean)
  const settings = Object.entries({
    ...(takesSettings ? {} : sessionSettings),
    ...(statementTimeout !== undefined && { statement_timeout: String(statementTimeout) }),
  })
  return [
    `BEGIN ${modes.join(' ')}`,
    ...settings.map(([name, value]) => `SET LOCAL ${name} = '${value}'`),
    ...(first ? [first] : []),
  ].join('; ')
}
