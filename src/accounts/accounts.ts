/**
 * Users, roles, logins and their limits, single-user mode and tokens; the API keys of programs in `keys/`.
 * Uses: `formats` and `process`; bcrypt and jose. Its stores are interfaces here, which `storage` fulfils.
 * Begin with: `user-accounts.ts` (what an account can do), `tokens.ts`, `login-limit.ts` (the lock after failed logins), `keys/api-keys.ts`.
 */
export { networkOf, type Origin, originOf, type Proxies, readProxies } from './addresses.ts'
export { type ApiKeys, createApiKeys, type VerifiedKey } from './keys/api-keys.ts'
export { isApiKey, withoutApiKeys } from './keys/key-text.ts'
export {
  type KeyPlace,
  type KeyRights,
  localPlugin,
  modelNotAllowed,
  type Permits,
  permitsOf,
  permitsPersona,
  requireChatPersona,
  requireListed,
  requirePlace,
  requirePlainChat,
  requireScopes,
  type Scope,
  type ScopeRule,
  scopes,
  splitPattern,
} from './keys/rights.ts'
export type {
  ApiKey,
  KeyBounds,
  KeyChange,
  KeyQuery,
  KeySecret,
  KeyStore,
  KeyUse,
  LiveKey,
  NewKey,
  NewSecret,
} from './keys/store.ts'
export type { FailureRule, Failures, LoginFailureStore } from './login-failures.ts'
export { windowMs } from './login-limit.ts'
export type { LoginAnswer, Logins, Verified } from './logins.ts'
export { isSpoof, lookOf } from './look-alikes.ts'
export { createPasswords, longestPassword, passwordRules } from './passwords.ts'
export { createTokens, refuseWeakSecret, type Secrets, secretProblems } from './tokens.ts'
export { type Accounts, createAccounts, type FirstAdministrator } from './user-accounts.ts'
export {
  type Account,
  type AccountChange,
  type AccountStore,
  type AuditEntry,
  type AuditQuery,
  type AuditRecord,
  type LiveSession,
  type MaybePromise,
  type NewAccount,
  nameKey,
  type Role,
  type Session,
  type Taken,
  type User,
  type UserCounts,
  whenThere,
} from './users.ts'
