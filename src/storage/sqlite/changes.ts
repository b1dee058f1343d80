import { oncePerTurn } from '../../process/process.ts'
import type { Changes } from '../shared/changes.ts'
import type { Database } from './connection.ts'

/** The changes of all processes, and how this one's stores tell of their own. */
export interface OwnChanges extends Changes {
  /** Called after a write that may have changed an account or a login. */
  wroteAccounts(): void
  /** Called after a write of prices. */
  wrotePrices(): void
  wroteLimits(): void
}

/**
 * Exact, and some microseconds: `PRAGMA data_version` changes with every commit of another connection
 * (https://sqlite.org/pragma.html#pragma_data_version), and this connection counts its own. A `service` reads it once for all
 * requests of a turn of the event loop. `plugins` is the mark of the plugins, which lie in files.
 */
export function createChanges(db: Database, plugins: () => string, service = false): OwnChanges {
  const statement = db.prepare<[], number>('PRAGMA data_version').pluck()
  const version = service ? oncePerTurn(() => statement.get()) : () => statement.get()
  const commits = () => `${version()} ${own}`
  let own = 0
  let ownPrices = 0
  let readPriceChanges: (() => number | undefined) | undefined
  let prices: { readonly at: string; readonly mark: string } | undefined
  const wrote = () => void own++
  return {
    mark(kind) {
      if (kind === 'plugins') return plugins()
      return kind === 'prices' ? priceMark() : commits()
    },
    wroteAccounts: wrote,
    wroteLimits: wrote,
    wrotePrices() {
      ownPrices++
    },
  }

  /** Prices change seldom, and other rows all the time: a commit of another process has their count read again. */
  function priceMark(): string {
    const at = `${commits()} ${ownPrices}`
    if (prices?.at !== at) {
      readPriceChanges ??= preparedPriceChanges()
      prices = { at, mark: String(readPriceChanges()) }
    }
    return prices.mark
  }

  function preparedPriceChanges(): () => number | undefined {
    const count = db.prepare<[], number>('SELECT number FROM price_changes').pluck()
    return () => count.get()
  }
}
