import { greetingOf } from './derived.ts'
import { ofLivePersona } from './live-rows.ts'
import { optional, required, type Table } from './table.ts'

const ofLiveBackup = `backup_id IN (SELECT id FROM persona_backup WHERE ${ofLivePersona})`

/** Personas with their logs, states and backups, and the sums of their owners' stored data. */
export const personaTables: readonly Table[] = [
  {
    name: 'persona',
    rows: 'personas',
    key: 'id',
    columns: {
      ...required('text', 'id user_id name model'),
      ...optional('text', 'description system_prompt'),
      ...required('text', 'parameters'),
      ...optional('text', 'embedding_model memory_settings mutation_settings extra'),
      ...required('int8', 'created_at updated_at'),
    },
    indexes: { persona_of_user: 'user_id, created_at, id' },
    where: `substr(user_id, 1, 1) <> '~'`,
  },
  {
    name: 'persona_usage',
    rows: 'sums of personas',
    key: 'persona_id',
    isWithoutRowid: true,
    fillfactor: 70,
    columns: {
      persona_id: { type: 'text', goesWith: 'persona.id' },
      ...required('text', 'user_id'),
      bytes: { type: 'int8', default: 0 },
    },
    where: ofLivePersona,
  },
  {
    name: 'user_usage',
    rows: 'sums of users',
    key: 'user_id',
    isWithoutRowid: true,
    fillfactor: 70,
    columns: { ...required('text', 'user_id'), ...required('int8', 'memories bytes') },
    where: `substr(user_id, 1, 1) <> '~'`,
  },
  {
    /**
     * A counter that every write of a persona's fields, state and memories raises, by triggers. It begins at a random number
     * below 2^40, so that a persona which is made again under its id does not repeat one.
     */
    name: 'persona_revision',
    rows: 'revisions',
    key: 'persona_id',
    isWithoutRowid: true,
    fillfactor: 70,
    columns: { persona_id: { type: 'text', goesWith: 'persona.id' }, ...required('int8', 'revision') },
    where: ofLivePersona,
  },
  {
    // A log has a number of its own, so that a long one that was written apart becomes its persona's by one change.
    name: 'adaptation_log',
    rows: 'logs',
    key: 'log_id',
    fillfactor: 70,
    columns: {
      log_id: { type: 'int8', isNumbered: true },
      persona_id: { type: 'text', goesWith: 'persona.id', postgres: 'UNIQUE DEFERRABLE' },
      bytes: { type: 'int8', default: 0 },
    },
    indexes: { adaptation_log_of_persona: { sqlite: 'persona_id' } },
    where: ofLivePersona,
  },
  {
    name: 'adaptation',
    rows: 'records of logs',
    key: 'log_id, sequence',
    unique: ['log_id, id', 'log_id, idempotency_key'],
    isWithoutRowid: true,
    columns: {
      log_id: { type: 'int8', goesWith: 'adaptation_log.log_id' },
      ...required('int8', 'sequence'),
      ...required('text', 'id'),
      ...optional('text', 'idempotency_key'),
      ...required('text', 'record'),
    },
    where: `log_id IN (SELECT log_id FROM adaptation_log WHERE ${ofLivePersona})`,
  },
  {
    name: 'persona_state',
    rows: 'states',
    key: 'persona_id',
    isWithoutRowid: true,
    columns: {
      persona_id: { type: 'text', goesWith: 'persona.id' },
      ...required('text', 'algorithm'),
      ...required('int8', 'sequence'),
      ...required('text', 'hash learned'),
    },
    where: ofLivePersona,
  },
  {
    // The fields of packages that this version does not know, which are exported with the persona again.
    name: 'persona_carried',
    rows: 'passthrough fields of personas',
    key: 'persona_id',
    isWithoutRowid: true,
    columns: {
      persona_id: { type: 'text', goesWith: 'persona.id' },
      ...required('text', 'fields'),
      // The first greeting of a character card, as JSON.
      greeting: { type: 'text', isOptional: true, derived: ({ fields }) => greetingOf(JSON.parse(fields as string)) },
    },
    where: ofLivePersona,
  },
  {
    // What always holds for the persona's user: see personas/profile/profile.ts.
    name: 'persona_profile',
    rows: 'profiles',
    key: 'persona_id',
    isWithoutRowid: true,
    // Lists of lines as JSON. Each chat reads those that hold, and none the history.
    columns: { persona_id: { type: 'text', goesWith: 'persona.id' }, ...required('text', 'lines history') },
    where: ofLivePersona,
  },
  {
    name: 'persona_backup',
    rows: 'backups of personas',
    key: 'number',
    columns: {
      number: { type: 'int8', isNumbered: true },
      id: { type: 'text', isUnique: true },
      persona_id: { type: 'text', goesWith: 'persona.id' },
      ...required('int8', 'created_at'),
      ...required('text', 'reason checksum content_hash'),
      ...required('int8', 'bytes memories adaptations'),
    },
    indexes: { persona_backup_order: 'persona_id, number' },
    where: ofLivePersona,
  },
  {
    // A package comes before its row; one that never gets a row is swept after a while.
    name: 'persona_backup_file',
    rows: 'files of backups',
    only: 'postgres',
    key: 'backup_id',
    columns: {
      ...required('text', 'backup_id'),
      written_at: {
        type: 'int8',
        postgres: 'DEFAULT (extract(epoch FROM now()) * 1000)::bigint',
        compared: false,
      },
      ...required('int8', 'bytes'),
    },
    where: ofLiveBackup,
  },
  {
    name: 'persona_backup_part',
    rows: 'parts of backups',
    only: 'postgres',
    key: 'backup_id, number',
    columns: {
      backup_id: { type: 'text', goesWith: 'persona_backup_file.backup_id' },
      ...required('int4', 'number'),
      ...required('bytea', 'bytes'),
    },
    where: ofLiveBackup,
  },
]
