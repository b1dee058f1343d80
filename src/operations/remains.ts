import { z } from 'zod'
import type { App } from '../app/app.ts'

/** The places of an answer in which removed words may still be, none where nothing was removed. */
export const mayRemainIn = z.exactOptional(
  z
    .array(z.string())
    .describe(
      'where the removed words may still be; the persona’s own backups are not among them, since they go there too',
    ),
)

/**
 * The places where PostgreSQL keeps removed rows until its operator clears them
 * (https://www.postgresql.org/docs/current/continuous-archiving.html); SQLite overwrites them.
 */
const ofPostgres = ['the write-ahead log', 'replicas', 'base backups'] as const

/**
 * The places that no removal of memories reaches: packages that were exported (of which nothing is known here), saved
 * conversations with the persona and kept responses where the user has some, backups of the whole installation and data from
 * before a restore where there are any, and those of PostgreSQL.
 */
export async function remains(app: App, owner: string, persona: string): Promise<string[]> {
  const [{ total: conversations }, { responses }, others] = await Promise.all([
    app.personas().then(({ stores }) => stores.conversations.list(owner, 1, 0, { personas: [persona] })),
    app.responses().then(({ responses }) => responses.extent(owner)),
    remainsOfInstallation(app),
  ])
  return [
    'exported packages',
    ...(conversations > 0 ? ['saved conversations'] : []),
    ...(responses > 0 ? ['kept responses'] : []),
    ...others,
  ]
}

/** The places that hold copies of the whole installation, or of its database. */
async function remainsOfInstallation(app: App): Promise<string[]> {
  const backups = await app.backups()
  return [
    ...((await backups.mayExist()) ? ['backups of the whole installation'] : []),
    ...(backups.beforeRestores().length > 0 ? ['data from before a restore'] : []),
    ...(app.settings.database ? ofPostgres : []),
  ]
}
