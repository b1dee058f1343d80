import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import {
  type ApiKeys,
  createAccounts,
  createApiKeys,
  createPasswords,
  createTokens,
  type KeyStore,
  refuseWeakSecret,
  type Secrets,
  secretProblems,
} from '../accounts/accounts.ts'
import { startMaintenance } from '../personas/personas.ts'
import { readSecret, type Settings } from '../settings/settings.ts'
import { ownTokenSecret, type Storage } from '../storage/storage.ts'

const day = 86_400_000

/** Users and logins of the composition root. With a clock for expiry, old audit entries are removed now and then. */
export function openAccounts(
  settings: Settings,
  { accounts: store, loginFailures }: Pick<Storage, 'accounts' | 'loginFailures'>,
  settledClock?: () => number,
) {
  const tokens = createTokens(() => installationSecrets(settings), Date.now)
  const accounts = createAccounts({
    store,
    failures: loginFailures,
    passwords: createPasswords(),
    tokens,
    rules: settings,
    secretWarnings: () => secretProblems(readSecret('JWT_SECRET', settings.environment)?.value),
    initialPassword: () => readSecret('DEFAULT_ADMIN_PASSWORD', settings.environment)?.value,
    now: () => performance.now(),
    clock: Date.now,
    newId: randomUUID,
  })
  const prune = async (clock: () => number) => {
    if (settings.auditDays > 0) await accounts.pruneAudit(clock() - settings.auditDays * day)
  }
  const upkeep = settledClock && startMaintenance({ maintain: () => prune(settledClock) })
  return {
    accounts,
    close: async () => upkeep?.close(),
    /** Checks the secret of the tokens again. Throws `configuration` for one that cannot be used. */
    prepareReload() {
      const secrets = installationSecrets(settings)
      return () => {
        tokens.replace(secrets)
        // Tokens of a secret that is gone are not valid any more, those of open streams included.
        accounts.logins.sweep()
      }
    },
  }
}

/** The part of the composition root that deals with API keys. */
export function openApiKeys(settings: Settings, store: KeyStore): ApiKeys {
  return createApiKeys({
    store,
    bounds: () => ({ inAll: settings.limits.apiKeys, perUser: settings.limits.apiKeysPerUser }),
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
