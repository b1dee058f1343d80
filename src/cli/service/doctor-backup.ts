import type { App } from '../../app/app.ts'
import { AppError } from '../../errors.ts'

/** Milliseconds of a day: without a schedule, an older backup than a week is worth a word. */
const dayMs = 86_400_000

/** Opens the newest backup, reads all of it and says its age. Throws where there is none, or it is damaged or too old. */
export async function checkNewestBackup(app: App): Promise<{ readonly detail: string }> {
  const backups = await app.backups()
  const [newest] = await backups.list()
  if (!newest)
    throw new AppError('not_found', `no backup in ${backups.place}`, {
      details: ['make one: aichat backup create; or let the daemon: aichat config set backup.every 1d'],
    })
  const { created_at, users } = await backups.verify({ name: newest.name })
  const age = Date.now() - created_at
  const { every } = app.settings.backup
  const detail = `${newest.name} is whole, ${ageOf(age)} old, with ${users} users`
  if (age > (every === undefined ? 7 * dayMs : every * 2000))
    throw new AppError('found', detail, { details: ['that is too old: aichat backup create'] })
  return { detail }
}

function ageOf(ms: number): string {
  const hours = ms / 3_600_000
  return hours < 1
    ? `${Math.round(ms / 60_000)} minutes`
    : hours < 48
      ? `${Math.round(hours)} hours`
      : `${Math.round(hours / 24)} days`
}
