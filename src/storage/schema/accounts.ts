import { optional, required, type Table } from './table.ts'

/** Accounts, logins, keys, and plugins. Failed logins are not moved: they count again, by another clock. */
export const accountTables: readonly Table[] = [
  {
    name: 'account',
    sqlite: 'user',
    rows: 'accounts',
    key: 'id',
    columns: {
      ...required('text', 'id username'),
      // Case-folded forms: what must be unique is what a reader takes for the same name.
      username_key: { type: 'text', isUnique: true },
      ...optional('text', 'email'),
      email_key: { type: 'text', isOptional: true, isUnique: true },
      ...required('text', 'password_hash'),
      role: { type: 'text', check: "role IN ('admin', 'user')" },
      must_change_password: { type: 'bool', check: 'must_change_password IN (0, 1)' },
      token_version: { type: 'int4', default: 0 },
      ...required('int8', 'created_at updated_at'),
      // The look of a name in any script. Not unique: accounts from before this that look alike go on working.
      username_look: { type: 'text', default: '' },
      number: { type: 'int8', sqlite: 'rowid', isNumbered: true },
    },
    indexes: { account_order: 'created_at, id', account_look: 'username_look' },
  },
  {
    name: 'login_session',
    rows: 'logins',
    key: 'id',
    isWithoutRowid: true,
    columns: {
      ...required('text', 'id'),
      user_id: { type: 'text', goesWith: 'account.id' },
      ...required('int8', 'created_at expires_at'),
    },
    indexes: { login_session_of_user: 'user_id', login_session_expiry: 'expires_at' },
  },
  {
    name: 'audit',
    rows: 'entries of the audit',
    key: 'id',
    columns: {
      id: { type: 'int8', isNumbered: true },
      ...required('int8', 'at'),
      ...required('text', 'action'),
      ...optional('text', 'actor target address'),
      ...required('text', 'outcome'),
      // The names then: an id does not say who a removed user was.
      ...optional('text', 'actor_name target_name'),
    },
    indexes: { audit_time: 'at, id', audit_actor: 'actor, at, id', audit_action: 'action, at, id' },
  },
  {
    // By subject. Times are milliseconds since the start of the machine in SQLite, since 1970 in PostgreSQL.
    name: 'login_failure',
    key: 'id',
    columns: {
      id: { type: 'int8', isNumbered: true },
      ...required('text', 'subject'),
      user_digest: { type: 'text', sqlite: 'user' },
      boot: { type: 'text', only: 'sqlite' },
      ...required('int8', 'at'),
    },
    indexes: {
      login_failure_of_subject: { sqlite: 'subject, boot, at', postgres: 'subject, at' },
      login_failure_age: 'at',
    },
  },
  {
    name: 'login_refusal',
    key: 'id',
    columns: {
      id: { type: 'int8', isNumbered: true },
      subject: { type: 'text', isUnique: true },
      boot: { type: 'text', only: 'sqlite' },
      ...required('int8', 'until'),
    },
    indexes: { login_refusal_age: { postgres: 'until' } },
  },
  {
    // A key stays when its owner is removed: usage names it.
    name: 'api_key',
    rows: 'API keys',
    key: 'id',
    columns: {
      ...required('text', 'id user_id name'),
      // JSON lists; NULL allows all.
      ...required('text', 'scopes'),
      ...optional('text', 'models plugins personas'),
      ...required('int8', 'created_at updated_at'),
      ...optional('int8', 'expires_at revoked_at last_used_at'),
    },
    indexes: { api_key_order: 'created_at, id', api_key_of_user: 'user_id, created_at, id' },
  },
  {
    name: 'api_key_secret',
    rows: 'secrets of API keys',
    key: 'digest',
    isWithoutRowid: true,
    columns: {
      // SHA-256 in base64url; the text is kept nowhere.
      ...required('text', 'digest'),
      key_id: { type: 'text', goesWith: 'api_key.id' },
      ...required('text', 'last4'),
      ...required('int8', 'created_at'),
      // NULL for the current secret.
      ...optional('int8', 'valid_until last_used_at'),
    },
    indexes: { api_key_secret_of_key: 'key_id' },
  },
  {
    // Overlays with their backups and marks.
    name: 'plugin',
    rows: 'plugins',
    only: 'postgres',
    key: 'id',
    columns: {
      ...required('text', 'id'),
      ...optional('text', 'document backup'),
      hidden: { type: 'bool', default: false },
    },
  },
  {
    name: 'plugin_active',
    rows: 'active plugins',
    only: 'postgres',
    key: 'kind',
    columns: required('text', 'kind id'),
  },
]
