import { createHmac } from 'node:crypto'
import { AppError } from '../errors.ts'
import { readSecret, type Settings } from '../settings/settings.ts'
import type { StorageSettings } from '../storage/storage.ts'
import { packageFolder } from './package-folder.ts'

/** The storage of the settings. Throws `configuration` for a shared one without JWT_SECRET: all must sign alike. */
export function storageSettingsOf(settings: Settings): StorageSettings {
  const { paths, limits, database, databaseGrace } = settings
  const common = {
    folder: paths.data,
    bundledPlugins: packageFolder('plugins'),
    limits: { bytes: limits.storedBytesPerUser, memories: limits.storedMemoriesPerUser },
  }
  if (!database) return common
  const secretPrints = codesOfSecret(settings, 'fingerprint of an aichat installation')
  if (secretPrints.length === 0)
    throw new AppError(
      'configuration',
      'JWT_SECRET is not set, which DATABASE_URL demands: all instances sign with the same',
      {
        details: ["Make one with: node -p 'crypto.randomBytes(32).toString(`base64`)', and give it to every instance"],
      },
    )
  const { url } = database
  return { ...common, url, graceMs: databaseGrace * 1000, secretPrints }
}

/** Codes of JWT_SECRET and the one before it, which do not tell them; none where it is not set. */
function codesOfSecret({ environment }: Settings, of: string): readonly string[] {
  const secrets = ['JWT_SECRET', 'JWT_SECRET_PREVIOUS'].map((name) => readSecret(name, environment)?.value)
  if (secrets[0] === undefined) return []
  return secrets.flatMap((secret) =>
    secret === undefined ? [] : [createHmac('sha256', secret).update(of).digest('hex')],
  )
}
