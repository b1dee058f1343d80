import { randomBytes } from 'node:crypto'

export interface KeptBackup {
  readonly name: string
  /** Milliseconds since 1970 UTC, by its name. */
  readonly created_at: number
  readonly bytes: number
  readonly encrypted: boolean
  /** Whether a schedule made it: these alone are removed by age. */
  readonly scheduled: boolean
}

export interface BackupTarget {
  readonly folder: string
  /** The newest first; other files are left out. */
  list(): Promise<readonly KeptBackup[]>
  /** Keeps a copy of a file: whole or not at all. */
  put(file: string, name: string): Promise<void>
  /** The path of a backup. Throws `not_found`. */
  fileOf(name: string): string
  /** True when it was there. */
  remove(name: string): boolean
}

const pattern = /^aichat-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-[0-9a-f]{4}(-auto)?\.tar\.gz(\.age)?$/

/** A name that sorts by time, such as `aichat-20261123T034247Z-3f9c-auto.tar.gz`. */
export function newName(at: number, { scheduled, encrypted }: { scheduled: boolean; encrypted: boolean }): string {
  const time = new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  return `aichat-${time}-${randomBytes(2).toString('hex')}${scheduled ? '-auto' : ''}.tar.gz${encrypted ? '.age' : ''}`
}

/** A backup by its name; undefined for a name of another file. */
export function keptOf(name: string, bytes: number): KeptBackup | undefined {
  const match = pattern.exec(name)
  if (!match) return undefined
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ]
  return {
    name,
    created_at: Date.UTC(year, month - 1, day, hour, minute, second),
    bytes,
    encrypted: match[8] !== undefined,
    scheduled: match[7] !== undefined,
  }
}

/** Whether a name is one of a backup file. */
export function isBackupName(name: string): boolean {
  return pattern.test(name)
}

/** The newest first. */
export function byAge(backups: readonly KeptBackup[]): readonly KeptBackup[] {
  return [...backups].sort((left, right) => right.created_at - left.created_at || (left.name < right.name ? 1 : -1))
}
