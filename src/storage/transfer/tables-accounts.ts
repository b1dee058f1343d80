import { plain, type TransferTable } from './table.ts'

/** Accounts, logins, keys, and plugins. Failed logins stay behind: they count anew, by another clock. */
export const accountTables: readonly TransferTable[] = [
  {
    name: 'account',
    sqlite: 'user',
    rows: 'accounts',
    columns: {
      ...plain('text', 'id username username_key username_look email email_key password_hash role'),
      number: { type: 'int8', sqlite: 'rowid' },
      must_change_password: { type: 'bool' },
      token_version: { type: 'int4' },
      ...plain('int8', 'created_at updated_at'),
    },
    order: 'id',
  },
  {
    name: 'login_session',
    rows: 'logins',
    columns: { ...plain('text', 'id user_id'), ...plain('int8', 'created_at expires_at') },
    order: 'id',
  },
  {
    name: 'audit',
    rows: 'entries of the audit',
    columns: {
      ...plain('int8', 'id at'),
      ...plain('text', 'action actor actor_name target target_name address outcome'),
    },
    order: 'id',
  },
  {
    name: 'api_key',
    rows: 'API keys',
    columns: {
      ...plain('text', 'id user_id name scopes models plugins personas'),
      ...plain('int8', 'created_at updated_at expires_at revoked_at last_used_at'),
    },
    order: 'id',
  },
  {
    name: 'api_key_secret',
    rows: 'secrets of API keys',
    columns: {
      ...plain('text', 'digest key_id last4'),
      ...plain('int8', 'created_at valid_until last_used_at'),
    },
    order: 'digest',
  },
  {
    name: 'plugin',
    rows: 'plugins',
    columns: { ...plain('text', 'id document backup'), hidden: { type: 'bool' } },
    order: 'id',
    isInFiles: true,
  },
  {
    name: 'plugin_active',
    rows: 'active plugins',
    columns: plain('text', 'kind id'),
    order: 'kind',
    isInFiles: true,
  },
]
