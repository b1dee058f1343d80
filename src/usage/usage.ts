/**
 * What requests use and cost: `metering/` counts a request, `ledger/` books its attempts, `prices/` costs them, `limits/` bounds
 * them before they are sent.
 * Uses: `chat` and `accounts` for what is metered and who pays, `plugins`, the tools; its stores are interfaces here.
 * Begin with: `cost.ts` (amounts and costs), `metering/metering.ts`, `ledger/ledger.ts`, `prices/price.ts`, `limits/admission.ts`.
 */
export type { Place, PriceList } from './cost.ts'
export { createDays, nextDay, startOf } from './days.ts'
export { exportedRows } from './ledger/export.ts'
export {
  costSources,
  createLedger,
  type LedgerProblems,
  type LedgerRow,
  type LedgerStore,
  type MinuteSums,
  minuteSums,
  outcomes,
  purposes,
  type RowQuery,
  type UsageGroup,
  type UsageJournal,
  type UsageQuery,
  type UsageSums,
  usageColumns,
  usageSums,
} from './ledger/ledger.ts'
export { type FindNames, periodOf, reportOf } from './ledger/report.ts'
export { isJournalRow } from './ledger/row-check.ts'
export type { LimitArea, LimitView } from './limits/area.ts'
export type { AskedDesk, RateDesk } from './limits/desk.ts'
export {
  type Budget,
  changedLimits,
  hasTwins,
  isNone,
  type LimitChange,
  type LimitDocument,
  mostBudgets,
  mostSubjects,
  readSubject,
  requireLimits,
  subjectOf,
} from './limits/documents.ts'
export { zoneName } from './limits/periods.ts'
export { refusalOf } from './limits/refusals.ts'
export type {
  AskedBudget,
  ChangedCounts,
  CountedBudget,
  LimitChanges,
  LimitStore,
  Orphan,
  Reservation,
  Reserved,
  SavedWindow,
  SharedCounts,
  Spend,
  WindowName,
} from './limits/store.ts'
export type { SavedSlots } from './limits/windows.ts'
export { createMetering } from './metering/metering.ts'
export { createTokenCounts, type TokenCount, type TokenCounts, tokenBounds } from './metering/token-counts.ts'
export { nanoOfUsd, usdOf } from './money.ts'
export type { Price, Tariff } from './prices/price.ts'
export { type PriceFile, priceOf } from './prices/price-file.ts'
export { priceRow, priceRows, shownPrice } from './prices/price-schema.ts'
export { createPrices, type Prices, type ShippedPrices, shippedPriceList } from './prices/prices.ts'
export { rateText } from './prices/rate-text.ts'
export { mostStoredPrices, type PriceChange, type PriceKey, type PriceStore, type StoredPrice } from './prices/store.ts'
