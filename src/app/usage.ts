import type { PluginHost } from '../plugins/plugins.ts'
import { once } from '../process/process.ts'
import type { Settings } from '../settings/settings.ts'
import { openUsageJournal, type Storage } from '../storage/storage.ts'
import {
  createDays,
  createLedger,
  createMetering,
  type LedgerStore,
  type LimitArea,
  type Place,
  type PriceList,
  type RateDesk,
  type TokenCounts,
} from '../usage/usage.ts'

/** The usage of models: requests and tokens, their cost, and their limits. */
export type UsageArea = Awaited<ReturnType<typeof openUsage>>

type StoresOfUsage = Pick<Storage, 'changes' | 'ledger' | 'limits' | 'hasLimits' | 'shared'>

export interface UsageAreaParts {
  readonly settings: Settings
  readonly plugins: PluginHost
  /** The storage once it is open: rows of a command without one wait in the journal. */
  readonly storage: () => StoresOfUsage | undefined
  readonly openStorage: () => Promise<StoresOfUsage>
  readonly prices: PriceList
  readonly tokens: TokenCounts
  /** A daemon, with its storage open. */
  readonly isService: boolean
  /** Books the attempts that ended processes left behind, and removes old rows. */
  readonly maintains: boolean
  /** Counts requests for limits in another process of the same service. */
  readonly desk?: RateDesk | undefined
  /** The clock that decides about expiry. */
  readonly settledClock: () => number
  /** Milliseconds, monotonic. */
  readonly now: () => number
  /** Tells the operator about a trouble that needs no answer of its own. */
  readonly warn: (message: string) => void
}

/**
 * Providers that bill an answer to its end although its caller has left
 * (https://openrouter.ai/docs/api-reference/streaming, "Stream cancellation"): by the host of their API.
 */
const goingOn = new Set(['api.groq.com', 'api.mistral.ai', 'generativelanguage.googleapis.com'])

/** Hosts of the APIs that report the cost in their answers; a budget counts it where no price is known. */
const reporting = new Set(['openrouter.ai'])

/** How often reservations of ended processes are looked for where a budget is full, at most: milliseconds. */
const orphansEveryMs = 1000

/** Journals of commands that wait for the ledger: the command after so many writes them all. */
const mostJournals = 50

/** The part of the composition root that counts. */
export async function openUsage(parts: UsageAreaParts) {
  const { settings, plugins, storage, openStorage, prices, tokens, isService, maintains, now, warn } = parts
  const journal = openUsageJournal(settings.paths.data)
  const days = createDays(settings.usageZone)
  // A command leaves its attempts in the journal, unless it is about usage: to load the ledger takes longer than many chats.
  let isWanted = isService
  const ledger = createLedger({ journal, store: () => (isWanted ? storage()?.ledger : undefined), warn, now })
  const store = storage()?.ledger
  const hostOf = (id: string) => {
    const endpoint = plugins.find(id)?.endpoint
    return endpoint !== undefined && URL.canParse(endpoint) ? new URL(endpoint).host : undefined
  }
  const reportsCost = ({ plugin }: Place) => plugin !== null && reporting.has(hostOf(plugin) ?? '')
  let reservations = 0
  const begun = Date.now() - now()
  let area: LimitArea | undefined
  /** Likewise. */
  const limits = once(async () => {
    const [stores, { openLimits }] = await Promise.all([openStorage(), import('../usage/limits/area.ts')])
    isWanted = true
    area = await openLimits({
      store: stores.limits,
      mark: () => stores.changes.mark('limits'),
      onChange: (listener) => stores.shared?.onChange('limits', listener),
      desk: parts.desk,
      shared: stores.shared && {
        isAway: stores.shared.isAway,
        goesOn: () => settings.databaseGrace > 0 && stores.shared!.isUsable(),
      },
      hasOthers: settings.database !== undefined || parts.desk !== undefined || !isService,
      now: () => begun + now(),
      wall: Date.now,
      zone: settings.usageZone,
      newId: () => `${journal.process}-${(++reservations).toString(36)}`,
      reportsCost,
      async flush() {
        await ledger.settle()
        if (now() - looked < orphansEveryMs) return
        looked = now()
        await stores.ledger.append(await orphans())
      },
      warn,
    })
    return area
  })
  let looked = Number.NEGATIVE_INFINITY
  const orphans = async () => {
    const [{ rowOfOrphan }, { orphans: find }] = await Promise.all([import('../usage/limits/orphans.ts'), limits()])
    return (await find()).map((orphan) => rowOfOrphan(orphan, days))
  }
  if (isService || storage()?.hasLimits()) await limits()
  const upkeep =
    maintains && store
      ? (await import('../usage/ledger/upkeep.ts')).startUpkeep({
          ledger,
          store,
          orphans,
          days,
          keepDays: settings.usageDays,
          clock: parts.settledClock,
        })
      : undefined
  const metering = createMetering({
    ledger,
    prices,
    tokens,
    // Without a storage there are none.
    limits: {
      admit: (subjects, size) => area?.admit(subjects, size),
      admitPlugin: (subjects, place, size) => area?.admitPlugin(subjects, place, size),
    },
    days,
    goesOn: (id) => goingOn.has(hostOf(id) ?? ''),
    now,
    clock: Date.now,
  })
  return {
    metering,
    ledger,
    /** Opens the database where it is not open yet. */
    async store(): Promise<LedgerStore> {
      isWanted = true
      return (await openStorage()).ledger
    },
    limits,
    /** Models, as `plugin:model`, that a budget refuses for want of a price; other names may be refused too. */
    unpriced: (only?: string) =>
      plugins
        .list()
        .filter(({ id, type, active, state }) =>
          only === undefined ? type !== 'tts' && (active || state === 'ready') : id === only,
        )
        .flatMap(({ id, model_map }) => model_map.map((model) => ({ plugin: id, model })))
        .filter((place) => !reportsCost(place) && prices.mostFor(place, 1, 1, Date.now()) === null)
        .map(({ plugin, model }) => `${plugin}:${model}`),
    days,
    async close() {
      await upkeep?.close()
      await area?.close()
      if (!isWanted && storage() && journal.count() > mostJournals) {
        isWanted = true
        await ledger.settle().catch(() => undefined)
      }
      await ledger.close()
    },
  }
}
