import { greetingOf } from '../postgres/packages-greeting.ts'
import { ofLivePersona } from './live-rows.ts'
import { plain, type TransferTable } from './table.ts'

/** Personas with their logs, states and backups, and the sums of their owners' stored data. */
export const personaTables: readonly TransferTable[] = [
  {
    name: 'persona',
    rows: 'personas',
    columns: {
      ...plain('text', 'id user_id name model description system_prompt parameters embedding_model memory_settings'),
      ...plain('text', 'mutation_settings extra'),
      ...plain('int8', 'created_at updated_at'),
    },
    order: 'id',
    where: `substr(user_id, 1, 1) <> '~'`,
  },
  {
    name: 'persona_usage',
    rows: 'sums of personas',
    columns: { ...plain('text', 'persona_id user_id'), ...plain('int8', 'bytes') },
    order: 'persona_id',
    where: ofLivePersona,
  },
  {
    name: 'user_usage',
    rows: 'sums of users',
    columns: { ...plain('text', 'user_id'), ...plain('int8', 'memories bytes') },
    order: 'user_id',
    where: `substr(user_id, 1, 1) <> '~'`,
  },
  {
    name: 'persona_revision',
    rows: 'revisions',
    columns: { ...plain('text', 'persona_id'), ...plain('int8', 'revision') },
    order: 'persona_id',
    where: ofLivePersona,
  },
  {
    name: 'adaptation_log',
    rows: 'logs',
    columns: { ...plain('int8', 'log_id bytes'), ...plain('text', 'persona_id') },
    order: 'log_id',
    where: ofLivePersona,
  },
  {
    name: 'adaptation',
    rows: 'records of logs',
    columns: { ...plain('int8', 'log_id sequence'), ...plain('text', 'id idempotency_key record') },
    order: 'log_id, sequence',
    where: `log_id IN (SELECT log_id FROM adaptation_log WHERE ${ofLivePersona})`,
  },
  {
    name: 'persona_state',
    rows: 'states',
    columns: { ...plain('text', 'persona_id algorithm hash learned'), ...plain('int8', 'sequence') },
    order: 'persona_id',
    where: ofLivePersona,
  },
  {
    name: 'persona_carried',
    rows: 'passthrough fields of personas',
    columns: {
      ...plain('text', 'persona_id fields'),
      greeting: { type: 'text', derived: ({ fields }) => greetingOf(JSON.parse(fields as string)) },
    },
    order: 'persona_id',
    where: ofLivePersona,
  },
  {
    name: 'persona_backup',
    rows: 'backups of personas',
    columns: {
      ...plain('int8', 'number created_at bytes memories adaptations'),
      ...plain('text', 'id persona_id reason checksum content_hash'),
    },
    order: 'number',
    where: ofLivePersona,
  },
]
