import { costSources, type LedgerRow, outcomes, purposes } from './ledger.ts'

type Fields = Readonly<Record<string, unknown>>

/** The longest name of a user, key, plugin, model, tier or price: characters. */
const longestName = 1000

/** The largest value of a 32-bit column. */
const mostAttempts = 2 ** 31 - 1

const counts = ['cached', 'cacheWrite', 'cacheWriteLong', 'reasoning', 'audioInput', 'audioOutput', 'characters']

/**
 * Whether a value read from a journal is a row that the ledger can take: one wrong row would keep all others of its batch
 * out forever.
 */
export function isJournalRow(value: unknown): value is LedgerRow {
  if (!isObject(value)) return false
  const { amounts, cost } = value
  return (
    isName(value['request']) &&
    isCount(value['attempt']) &&
    (value['attempt'] as number) <= mostAttempts &&
    isCount(value['at']) &&
    typeof value['day'] === 'string' &&
    /^\d{4}-\d\d-\d\d$/.test(value['day']) &&
    isName(value['user']) &&
    isNullOr(isName, value['key']) &&
    isNullOr(isName, value['plugin']) &&
    isName(value['model']) &&
    isOneOf(purposes, value['purpose']) &&
    isOneOf(outcomes, value['outcome']) &&
    typeof value['estimated'] === 'boolean' &&
    typeof value['lowerBound'] === 'boolean' &&
    isObject(amounts) &&
    isCount(amounts['input']) &&
    isCount(amounts['output']) &&
    counts.every((name) => amounts[name] === undefined || isCount(amounts[name])) &&
    ['serviceTier', 'speed'].every((name) => amounts[name] === undefined || isName(amounts[name])) &&
    isObject(cost) &&
    isNullOr(isCount, cost['nano']) &&
    isNullOr((source) => isOneOf(costSources, source), cost['source']) &&
    isNullOr(isName, cost['priceId']) &&
    isCount(value['durationMs']) &&
    (value['reservation'] === undefined || isName(value['reservation']))
  )
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && value.length <= longestName
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isNullOr(test: (value: unknown) => boolean, value: unknown): boolean {
  return value === null || test(value)
}

function isOneOf(list: readonly string[], value: unknown): boolean {
  return list.includes(value as string)
}
