import { optional, required, type Table } from './table.ts'

/** The ledger with its sums, prices and limits. Amounts are nano-USD, days such as 20261122, names numbers. */
export const usageTables: readonly Table[] = [
  {
    name: 'ledger_name',
    rows: 'names of the ledger',
    key: 'id',
    columns: {
      id: { type: 'int8', isNumbered: true },
      name: { type: 'text', isUnique: 'sqlite' },
      // A name may be longer than PostgreSQL's indexes take.
      key: {
        type: 'text',
        isOptional: true,
        isUnique: true,
        only: 'postgres',
        postgres: 'GENERATED ALWAYS AS (ledger_name_key(name)) STORED',
      },
    },
  },
  {
    name: 'ledger',
    rows: 'attempts of the ledger',
    columns: {
      ...required('text', 'request'),
      ...required('int4', 'attempt'),
      ...required('int8', 'at'),
      ...required('int4', 'day'),
      ...required('int8', 'user'),
      ...optional('int8', 'api_key plugin'),
      ...required('int8', 'model'),
      ...required('int2', 'purpose outcome estimated lower_bound'),
      ...required('int8', 'input'),
      ...optional('int8', 'cached cache_write cache_write_long'),
      ...required('int8', 'output'),
      ...optional('int8', 'reasoning audio_input audio_output characters service_tier speed'),
      // NULL where no price is known.
      ...optional('int8', 'cost'),
      ...optional('int2', 'cost_source'),
      ...optional('int8', 'price'),
      ...required('int8', 'duration_ms'),
      // NULL where the answer was not streamed, and in rows of builds before schema-8.
      ...optional('int8', 'first_ms'),
      // NULL where it did not fail, and in rows of builds before schema-9.
      ...optional('int8', 'reason'),
      id: { type: 'int8', sqlite: 'rowid', isNumbered: true },
    },
    indexes: { ledger_time: { sqlite: 'day, at', postgres: 'day, at, id' } },
    uniqueIndexes: { ledger_attempt: 'request, attempt' },
  },
  {
    // 0 stands for no key and for this machine: NULL would make a key of its own in each row.
    name: 'ledger_day',
    rows: 'days of the ledger',
    key: 'day, "user", api_key, plugin, model',
    isWithoutRowid: true,
    fillfactor: 70,
    columns: {
      ...required('int4', 'day'),
      ...required('int8', 'user api_key plugin model requests failed input cached cache_write output reasoning'),
      ...required('int8', 'characters cost unpriced estimated'),
    },
  },
  {
    // The first day whose rows are all there.
    name: 'ledger_begin',
    rows: 'beginnings of the ledger',
    key: 'id',
    columns: { id: { type: 'int4', check: 'id = 1' }, ...required('int4', 'day') },
    firstRows: '(1, 0)',
  },
  {
    name: 'price',
    rows: 'prices',
    key: 'number',
    columns: {
      // Usage rows name the number of their price.
      number: { type: 'int8', isNumbered: true, isNeverReused: true },
      source: { type: 'text', check: "source IN ('operator', 'refreshed')" },
      ...required('text', 'plugin model'),
      // Milliseconds since 1970; 0 for a price that always held.
      ...required('int8', 'valid_from'),
      // Rates in 10^-12 USD per token, other names, tiers: JSON.
      ...required('text', 'terms origin'),
      ...required('int8', 'set_at'),
      ...optional('int8', 'ended_at'),
    },
    uniqueIndexes: { price_that_holds: 'source, plugin, model, valid_from WHERE ended_at IS NULL' },
  },
  {
    // A count of the changes of prices, for caches.
    name: 'price_changes',
    only: 'sqlite',
    columns: required('int8', 'number'),
    firstRows: '(0)',
  },
  {
    // A removed document is NULL, so that other processes see the removal.
    name: 'limit_document',
    rows: 'limits',
    key: 'subject',
    columns: { ...required('text', 'subject'), ...optional('text', 'document'), ...required('int8', 'revision') },
    uniqueIndexes: { limit_document_order: 'revision' },
  },
  {
    // The accounts of budgets.
    name: 'limit_spend',
    rows: 'accounts of budgets',
    key: 'id',
    unique: ['subject, period, zone, start'],
    fillfactor: 50,
    columns: {
      id: { type: 'int8', isNumbered: true },
      ...required('text', 'subject period zone'),
      ...required('int8', 'start end'),
      // The days of the ledger that are the period, such as 20261101; NULL where its days are of another zone.
      ...optional('int4', 'first_day last_day'),
      // The costs of the ledger's rows of the period, and of beyond.
      ...required('int8', 'spent'),
      // The part of it without a row in the period: of attempts while the clock was set back, and of answers whose client
      // left and that are billed to their end.
      beyond: { type: 'int8', default: 0 },
      reserved: { type: 'int8', default: 0 },
      // What was spent at the last reset.
      cleared: { type: 'int8', default: 0 },
      // The limit whose warning was given.
      ...optional('int8', 'warned'),
    },
    indexes: { limit_spend_order: { sqlite: 'subject, "end"' } },
  },
  {
    name: 'limit_reservation',
    rows: 'reservations',
    key: 'id',
    isWithoutRowid: true,
    columns: {
      ...required('text', 'id process'),
      ...required('int8', 'at nano'),
      ...required('text', 'user'),
      ...optional('text', 'key plugin'),
      ...required('text', 'model'),
      ...required('int8', 'input output'),
      // JSON: [id of limit_spend, 1 for a hard budget, else 0] each.
      ...required('text', 'shares'),
    },
  },
  {
    name: 'limit_window',
    rows: 'windows of limits',
    key: 'subject, name',
    isWithoutRowid: true,
    columns: required('text', 'subject name slots'),
  },
]
