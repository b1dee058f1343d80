import type { Metering } from '../chat/metering.ts'
import type { PluginHost } from '../plugins/host.ts'
import type { Settings } from '../settings/settings.ts'
import { openUsageJournal, type Storage } from '../storage/storage.ts'
import { createDays, type Days } from '../usage/days.ts'
import { createLedger, type Ledger, type LedgerStore } from '../usage/ledger/ledger.ts'
import { startUpkeep } from '../usage/ledger/upkeep.ts'
import { createMetering } from '../usage/metering/metering.ts'
import type { PriceList } from '../usage/usage.ts'

/** The usage of models: what was asked, what it cost, and what may still be asked. */
export interface UsageArea {
  readonly metering: Metering
  readonly ledger: Ledger
  /** Opens the database where it is not open yet. */
  store(): Promise<LedgerStore>
  readonly days: Days
  close(): Promise<void>
}

export interface UsageAreaParts {
  readonly settings: Settings
  readonly plugins: PluginHost
  /** The storage once it is open: rows of a command without one wait in the journal. */
  readonly storage: () => Pick<Storage, 'ledger'> | undefined
  readonly openStorage: () => Promise<Pick<Storage, 'ledger'>>
  readonly prices: PriceList
  /** A daemon, whose storage is open: it books what ended processes left behind, and removes old rows. */
  readonly isService: boolean
  /** Milliseconds, monotonic. */
  readonly now: () => number
}

/**
 * Providers that bill an answer to its end although its caller has left
 * (https://openrouter.ai/docs/api-reference/streaming, "Stream cancellation"): by the host of their API.
 */
const goingOn = new Set(['api.groq.com', 'api.mistral.ai', 'generativelanguage.googleapis.com'])

/** The part of the composition root that counts. */
export function openUsage(parts: UsageAreaParts): UsageArea {
  const { settings, plugins, storage, openStorage, prices, isService, now } = parts
  const journal = openUsageJournal(settings.paths.data)
  const days = createDays(settings.usageZone)
  const warn = (message: string) => process.emitWarning(message)
  const ledger = createLedger({ journal, store: () => storage()?.ledger, warn, now })
  const store = storage()?.ledger
  const upkeep =
    isService && store ? startUpkeep({ ledger, store, days, keepDays: settings.usageDays, clock: Date.now }) : undefined
  const metering = createMetering({
    ledger,
    prices,
    limits: undefined,
    days,
    goesOn: (id) => {
      const endpoint = plugins.find(id)?.endpoint
      return endpoint !== undefined && URL.canParse(endpoint) && goingOn.has(new URL(endpoint).host)
    },
    now,
    clock: Date.now,
  })
  return {
    metering,
    ledger,
    store: async () => (await openStorage()).ledger,
    days,
    async close() {
      await upkeep?.close()
      await ledger.close()
    },
  }
}
