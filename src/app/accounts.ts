import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type Accounts, createAccounts } from '../accounts/accounts.ts'
import { type ApiKeys, createApiKeys } from '../accounts/keys/api-keys.ts'
import type { KeyStore } from '../accounts/keys/store.ts'
import { createPasswords } from '../accounts/passwords.ts'
import { createTokens, refuseWeakSecret, type Secrets, secretProblems } from '../accounts/tokens.ts'
import { readSecret, type Settings } from '../settings/settings.ts'
import { ownTokenSecret } from '../storage/files/token-secret.ts'
import type { Storage } from '../storage/storage.ts'

/** The part of the composition root that deals with users and logins. */
export function openAccounts(
  settings: Settings,
  { accounts, loginFailures }: Pick<Storage, 'accounts' | 'loginFailures'>,
): Accounts {
  return createAccounts({
    store: accounts,
    failures: loginFailures,
    passwords: createPasswords(),
    tokens: createTokens(() => installationSecrets(settings), Date.now),
    rules: {
      singleUserMode: settings.singleUserMode,
      allowRegistration: settings.allowRegistration,
      lifetime: settings.tokenLifetime,
      administrator: settings.defaultAdmin,
      production: settings.production,
    },
    secretWarnings: () => secretProblems(readSecret('JWT_SECRET', settings.environment)?.value),
    initialPassword: () => readSecret('DEFAULT_ADMIN_PASSWORD', settings.environment)?.value,
    now: machineClock,
    clock: Date.now,
    newId: randomUUID,
  })
}

/** Milliseconds since the start of the machine: the same for all processes, and setting the date does not move it. */
function machineClock(): number {
  return Number(process.hrtime.bigint() / 1_000_000n)
}

/** The part of the composition root that deals with API keys. */
export function openApiKeys({ limits }: Settings, store: KeyStore): ApiKeys {
  return createApiKeys({
    store,
    bounds: { inAll: limits.apiKeys, perUser: limits.apiKeysPerUser },
    clock: Date.now,
    newId: randomUUID,
  })
}

/**
 * JWT_SECRET, which production demands and checks, else the installation's own secret; behind it JWT_SECRET_PREVIOUS.
 * Throws `configuration` in production for a missing or weak JWT_SECRET.
 */
export function installationSecrets({ environment, production, paths }: Settings): Secrets {
  const given = readSecret('JWT_SECRET', environment)?.value
  const previous = readSecret('JWT_SECRET_PREVIOUS', environment)?.value
  if (production) refuseWeakSecret(given === undefined ? ['JWT_SECRET is not set'] : secretProblems(given))
  const current = given ?? ownTokenSecret(join(paths.data, 'token-secret'))
  return previous === undefined ? [current] : [current, previous]
}
