import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type Backups, createBackups } from '../backup/backups.ts'
import { folderTarget } from '../backup/folder-target.ts'
import type { BackupTarget } from '../backup/target.ts'
import { AppError } from '../errors.ts'
import { openHttpClient } from '../http-client/agent.ts'
import type { Settings } from '../settings/settings.ts'
import type { StorageSettings } from '../storage/storage.ts'
import { version } from '../version.ts'

/** The secrets of backups by the names of their variables; no plugin may name one of them, see `isOwnVariable`. */
export const backupSecrets = {
  passphrase: 'AICHAT_BACKUP_PASSPHRASE',
  accessKeyId: 'AWS_ACCESS_KEY_ID',
  secretAccessKey: 'AWS_SECRET_ACCESS_KEY',
  sessionToken: 'AWS_SESSION_TOKEN',
} as const

interface BackupAreaParts {
  readonly settings: Pick<Settings, 'paths' | 'backup' | 'pluginAllowPrivate'>
  readonly storage: StorageSettings
  readonly ownPorts: ReadonlySet<number>
  /** A secret by its name, from the environment, a file, or where `aichat secret set` put it. */
  readonly secret: (name: string) => Promise<string | undefined>
  readonly keyNames: () => readonly string[]
}

/** The part of the composition root that deals with backups of everything. */
export function openBackups({ settings, storage, ownPorts, secret, keyNames }: BackupAreaParts): Backups {
  const { paths, backup } = settings
  const folder = backup.target ?? join(paths.data, 'full-backups')
  return createBackups({
    storage,
    places: { data: paths.data, config: paths.config },
    place: folder,
    isRemote: folder.startsWith('s3://'),
    daysBeforeRestore: backup.daysBeforeRestore,
    target: async () =>
      folder.startsWith('s3://')
        ? s3(folder, settings, ownPorts, secret)
        : folderTarget(folder, { makeParents: backup.target === undefined }),
    program: `aichat ${version()}`,
    keyNames,
    passphrase: () => secret(backupSecrets.passphrase),
    clock: Date.now,
    newId: randomUUID,
  })
}

async function s3(
  address: string,
  { backup, pluginAllowPrivate }: BackupAreaParts['settings'],
  ownPorts: ReadonlySet<number>,
  secret: BackupAreaParts['secret'],
): Promise<BackupTarget> {
  const { s3Place, s3Target } = await import('../backup/s3-target.ts')
  const place = s3Place(address)
  if (!place) throw new AppError('configuration', `Invalid backup.target "${address}": give s3://BUCKET/PREFIX`)
  const [accessKeyId, secretAccessKey, sessionToken] = await Promise.all([
    secret(backupSecrets.accessKeyId),
    secret(backupSecrets.secretAccessKey),
    secret(backupSecrets.sessionToken),
  ])
  if (!accessKeyId || !secretAccessKey)
    throw new AppError('configuration', 'Backups to S3 need AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY', {
      details: ['Set them in the environment, name files by AWS_ACCESS_KEY_ID_FILE …, or run: aichat secret set NAME'],
    })
  const client = openHttpClient({ allowPrivate: pluginAllowPrivate, ownPorts, longestBody: Number.MAX_SAFE_INTEGER })
  return s3Target(
    { ...place, region: backup.s3Region, endpoint: backup.s3Endpoint },
    { accessKeyId, secretAccessKey, sessionToken },
    client.send,
    () => client.close(),
  )
}
