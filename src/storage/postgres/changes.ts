import { whileUnderWay } from '../../process/process.ts'
import type { ChangeKind, Changes, Grace } from '../shared/changes.ts'
import { isAway } from './errors.ts'
import type { Database, Transaction, TransactionOptions } from './sql.ts'
import { startWatch } from './watch.ts'

/** The changes of all processes, and how the stores of this one make theirs known. */
export interface OwnChanges extends Changes {
  /**
   * Runs a transaction that may change cached data, counts the change in it, and notifies all processes with its
   * commit. At its end, successful or not, this process drops its cache.
   */
  writing<R>(kind: ChangeKind, work: (tx: Transaction) => Promise<R>, options?: TransactionOptions): Promise<R>
  /** Asks for the changes now. One question at a time: several that come together get the answer of one. */
  ask(): Promise<void>
  /** Asks in the background where the last answer is older than a poll's, for a process that does not poll. */
  askSoon(): void
  /** Polls from now on. */
  watch(): void
  /** Whether any limit is set, by the last answer. */
  hasLimits(): boolean
  readonly grace: Grace
  /** Whether any login may go on: the database answers, or the grace since its last answer lasts. */
  isUsable(): boolean
  /** Calls back after an answer that reports a change of that kind. */
  onChange(kind: ChangeKind, listener: () => void): void
  /** Called when the database goes away, with the reason, and when it is back. */
  onAway(listener: (reason: unknown) => void): void
  close(): Promise<void>
}

export interface ChangeOptions {
  /** Milliseconds that checked logins and keys go on while the database is away. */
  readonly graceMs?: number
  /** Milliseconds, monotonic. */
  readonly now?: () => number
}

/** The channel of notifications; the payload is a kind. */
const channel = 'aichat'

/** An answer counts so long after it was asked for: milliseconds. */
const leaseMs = 1000

/** Milliseconds after which a process that does not poll asks again. */
const staleMs = 250

const pollText = `SELECT kind, number, current_setting('transaction_read_only') = 'on' AS read_only,
  EXISTS (SELECT FROM limit_document) AS has_limits FROM change`

interface Polled {
  readonly kind: ChangeKind
  readonly number: number
  readonly read_only: boolean
  readonly has_limits: boolean
}

/** See `OwnChanges`. Nothing is known before the first answer. */
export function createChanges(db: Database, options: ChangeOptions = {}): OwnChanges {
  const { graceMs = 0, now = () => performance.now() } = options
  const numbers = new Map<ChangeKind, number>()
  const own: Record<ChangeKind, number> = { accounts: 0, limits: 0, plugins: 0, prices: 0 }
  const marks: Record<ChangeKind, string | undefined> = {
    accounts: undefined,
    limits: undefined,
    plugins: undefined,
    prices: undefined,
  }
  const changeListeners: [ChangeKind, () => void][] = []
  const awayListeners: ((reason: unknown) => void)[] = []
  let hasLimits = true
  let answeredAt = Number.NEGATIVE_INFINITY
  let away: { readonly reason: unknown } | undefined
  let watch: ReturnType<typeof startWatch> | undefined
  let isClosed = false

  const grace: Grace = {
    ms: graceMs,
    now,
    answeredAt: () => answeredAt,
    isAway: () => away !== undefined,
    forgives: isAway,
  }

  function renew(kind: ChangeKind): void {
    marks[kind] = `${numbers.get(kind)} ${own[kind]}`
  }

  function onAnswer(rows: readonly Polled[], askedAt: number): void {
    if (rows[0]?.read_only)
      throw Object.assign(new Error('The database takes no writes now: it is a standby or read-only'), {
        code: '25006',
      })
    answeredAt = Math.max(answeredAt, askedAt)
    hasLimits = rows[0]?.has_limits ?? true
    if (away) setAway(undefined)
    const changed = rows.filter(({ kind, number }) => numbers.get(kind) !== number)
    for (const { kind, number } of changed) {
      numbers.set(kind, number)
      renew(kind)
    }
    for (const { kind } of changed) for (const [wanted, listener] of changeListeners) if (wanted === kind) listener()
  }

  function setAway(next: typeof away): void {
    const before = away
    away = next
    if ((before === undefined) !== (next === undefined)) for (const listener of awayListeners) listener(next?.reason)
  }

  const changes: OwnChanges = {
    mark(kind) {
      // A command checks few logins: it asks for each.
      if (!watch && kind === 'accounts') return undefined
      const age = now() - answeredAt
      if (age < leaseMs) return marks[kind]
      // Limits, prices and plugins go on as long as any login may; a login goes by its own check.
      return away && kind !== 'accounts' && age < graceMs ? marks[kind] : undefined
    },
    async writing(kind, work, transactionOptions) {
      try {
        return await db.transaction(work, {
          ...transactionOptions,
          last: [
            `UPDATE change SET number = number + 1 WHERE kind = '${kind}'`,
            `SELECT pg_notify('${channel}', '${kind}')`,
            ...(kind === 'accounts' ? [markAccounts] : []),
          ].join('; '),
        })
      } finally {
        own[kind]++
        renew(kind)
      }
    },
    ask: whileUnderWay(async () => {
      const askedAt = now()
      onAnswer(await db.rows<Polled>(pollText), askedAt)
    }),
    askSoon() {
      if (watch || isClosed || now() - answeredAt < staleMs) return
      changes.ask().catch(() => {})
    },
    watch() {
      watch ??= startWatch<Polled>({
        ...{ db, channel, text: pollText, onAnswer, now },
        onAway(reason) {
          if ((reason as { code?: unknown }).code === '25006') db.drop(reason as Error)
          setAway({ reason })
        },
      })
    },
    hasLimits: () => hasLimits,
    grace,
    isUsable: () => !away || now() - answeredAt < graceMs,
    onChange: (kind, listener) => void changeListeners.push([kind, listener]),
    onAway: (listener) => void awayListeners.push(listener),
    async close() {
      isClosed = true
      await watch?.close()
    },
  }
  return changes
}

/** Marks for good that there were accounts: see installation.ts. */
const markAccounts = `UPDATE installation SET had_accounts = true WHERE NOT had_accounts AND EXISTS (SELECT FROM account)`
