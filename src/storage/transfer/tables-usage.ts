import { plain, type TransferTable } from './table.ts'

/** The ledger with its sums, prices, and limits. */
export const usageTables: readonly TransferTable[] = [
  {
    name: 'ledger_name',
    rows: 'names of the ledger',
    columns: { ...plain('int8', 'id'), ...plain('text', 'name') },
    order: 'id',
  },
  {
    name: 'ledger',
    rows: 'attempts of the ledger',
    columns: {
      id: { type: 'int8', sqlite: 'rowid' },
      ...plain('text', 'request'),
      ...plain('int4', 'attempt day'),
      ...plain('int8', 'at user api_key plugin model input cached cache_write cache_write_long output reasoning'),
      ...plain('int8', 'audio_input audio_output characters service_tier speed cost price duration_ms'),
      ...plain('int2', 'purpose outcome estimated lower_bound cost_source'),
    },
    order: 'id',
  },
  {
    name: 'ledger_day',
    rows: 'days of the ledger',
    columns: {
      ...plain('int4', 'day'),
      ...plain('int8', 'user api_key plugin model requests failed input cached cache_write output reasoning'),
      ...plain('int8', 'characters cost unpriced estimated'),
    },
    order: 'day, "user", api_key, plugin, model',
  },
  {
    name: 'ledger_begin',
    rows: 'beginnings of the ledger',
    columns: plain('int4', 'id day'),
    order: 'id',
    isNeverEmpty: true,
  },
  {
    name: 'price',
    rows: 'prices',
    columns: {
      ...plain('int8', 'number valid_from set_at ended_at'),
      ...plain('text', 'source plugin model terms origin'),
    },
    order: 'number',
  },
  {
    name: 'limit_document',
    rows: 'limits',
    columns: { ...plain('text', 'subject document'), ...plain('int8', 'revision') },
    order: 'subject',
  },
  {
    name: 'limit_spend',
    rows: 'accounts of budgets',
    columns: {
      ...plain('int8', 'id start end spent beyond reserved cleared warned'),
      ...plain('text', 'subject period zone'),
      ...plain('int4', 'first_day last_day'),
    },
    order: 'id',
  },
  {
    name: 'limit_reservation',
    rows: 'reservations',
    columns: {
      ...plain('text', 'id process user key plugin model shares'),
      ...plain('int8', 'at nano input output'),
    },
    order: 'id',
  },
  {
    name: 'limit_window',
    rows: 'windows of limits',
    columns: plain('text', 'subject name slots'),
    order: 'subject, name',
  },
]
