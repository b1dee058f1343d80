import { basename } from 'node:path'
import { type App, composeApp, openApp } from '../../app/app.ts'
import type { BackupSource, Backups, KeptBackup, OpenOptions, VerifiedBackup } from '../../backup/backup.ts'
import { AppError } from '../../errors.ts'
import { counted, fileKindOf } from '../../formats/formats.ts'
import { createBackup, listFullBackups, removeBackup, verifyBackup } from '../../operations/operations.ts'
import type { Settings } from '../../settings/settings.ts'
import { findServer } from '../remote/target.ts'
import type { Cli } from '../terminal/cli.ts'
import { note, print } from '../terminal/output.ts'
import { given } from '../terminal/parsers.ts'
import { openProgress } from '../terminal/progress.ts'
import { askSecret, canAsk, confirm, readSecrets } from '../terminal/prompts.ts'
import { recordHere } from '../terminal/record.ts'
import { listing, sizeText } from '../terminal/table.ts'
import { momentText, timeText } from '../terminal/times.ts'

interface PassphraseOptions {
  readonly passphraseStdin?: boolean
}

/** Backs up everything and prints the name of the backup. */
export async function create(cli: Cli, options: PassphraseOptions & { readonly encrypt?: boolean }): Promise<void> {
  const isEncrypted = options.encrypt || options.passphraseStdin
  const asked = { twice: true, piped: options.passphraseStdin }
  const passphrase = isEncrypted ? await askSecret(cli, 'Passphrase', '--passphrase-stdin', asked) : undefined
  const kept = await atHome(
    cli,
    async (backups, progress, app) => {
      const made = await backups.create({ ...progress, passphrase })
      await recordHere(cli, app, 'backups.create', made.name)
      return made
    },
    () => cli.ask(createBackup, given({ passphrase })),
    openApp,
  )
  await print(cli, kept, ({ name }) => name)
  note(cli, `aichat: ${sizeText(kept.bytes)}${kept.encrypted ? ', encrypted' : ''}; the values of keys are not in it`)
}

/** Lists the backups where they are kept. */
export async function list(cli: Cli): Promise<void> {
  const listed = await atHome(
    cli,
    async (backups) => ({ place: backups.place, backups: await backups.list() }),
    () => cli.ask(listFullBackups, {}),
  )
  await print(cli, listed, ({ backups, place }) =>
    listing(cli, backups, `no backups in ${place} yet; make one: aichat backup create`, [
      ['BACKUP', (row) => row.name],
      ['TIME', (row) => timeText(cli, row.created_at)],
      ['SIZE', (row) => sizeText(row.bytes)],
      ['MADE BY', (row) => (row.scheduled ? 'schedule' : 'hand')],
      ['ENCRYPTED', (row) => (row.encrypted ? 'yes' : 'no')],
    ]),
  )
}

/** Reads a whole backup. Exits 65 or 78 for a damaged one, 66 for a file that is not there. */
export async function verify(cli: Cli, backup: string | undefined, options: PassphraseOptions): Promise<void> {
  const found = await atHome<VerifiedBackup>(
    cli,
    async (backups, progress) => {
      const source = await sourceOf(backups, backup)
      return backups.verify(source, { ...progress, passphrase: await passphraseOf(cli, source, options) })
    },
    backup !== undefined && isPath(backup)
      ? undefined
      : async () => {
          const name = backup ?? newestOf((await cli.ask(listFullBackups, {})).backups)
          return cli.ask(verifyBackup, {
            name,
            ...given({ passphrase: await passphraseOf(cli, { name }, options) }),
          })
        },
  )
  await print(cli, found, (backup) => textOf(cli, backup))
}

/** Replaces everything by a backup, on this machine alone and with no daemon on the data folder. */
export async function restore(
  cli: Cli,
  named: string | undefined,
  options: PassphraseOptions & { readonly asBackedUp?: boolean },
): Promise<void> {
  const target = await findServer(cli)
  if (target?.from === 'flag')
    throw new AppError('usage', 'A backup is restored on the machine of the data, with its daemon stopped', {
      details: [`Run this there, without --server ${target.url}`],
    })
  const {
    paths,
    database,
    backup: { daysBeforeRestore: keptFor },
  } = await cli.settings()
  const restored = await withBackups(cli, async (backups, progress) => {
    const source = await sourceOf(backups, named)
    const passphrase = await passphraseOf(cli, source, options)
    const shown = 'name' in source ? source.name : source.file
    await confirm(
      cli,
      database ? `Fill the empty ${database.name} with ${shown}?` : `Replace everything in ${paths.data} by ${shown}?`,
    )
    return backups.restore(source, { ...progress, passphrase, asBackedUp: options.asBackedUp === true })
  })
  await print(cli, restored, () => '')
  note(
    cli,
    `aichat: restored the state of ${momentText(cli, restored.created_at)} with ${counted(restored.users, 'user')}`,
  )
  if (restored.before !== undefined)
    note(
      cli,
      `aichat: the data from before is in ${restored.before}; it is removed after ${counted(keptFor, 'day')} (backup.keep_before_restore_days)`,
    )
  if (restored.logins > 0) note(cli, 'aichat: every login has ended: log in again')
  if (restored.locked > 0)
    note(
      cli,
      `aichat: ${counted(restored.locked, 'user')}, removed since the backup, came back without a password: ${restored.lockedUsers.join(', ')}; aichat users reset-password NAME, or aichat users remove NAME`,
    )
  if (restored.revokedKeys > 0)
    note(
      cli,
      `aichat: ${counted(restored.revokedKeys, 'API key was', 'API keys were')} revoked; --as-backed-up would let them work again`,
    )
  if (restored.keys.length > 0) note(cli, `aichat: keys that were set then: ${restored.keys.join(', ')}`)
}

/** Removes backups by their names. */
export async function remove(cli: Cli, names: readonly string[]): Promise<void> {
  const removed: KeptBackup[] = []
  for (const name of names)
    removed.push(
      await atHome(
        cli,
        async (backups, _, app) => {
          const gone = await backups.remove(name)
          await recordHere(cli, app, 'backups.remove', name)
          return gone
        },
        () => cli.ask(removeBackup, { name }),
      ),
    )
  await print(cli, removed.length === 1 ? removed[0] : { backups: removed }, () =>
    removed.map(({ name }) => name).join('\n'),
  )
}

type Progress = Required<Pick<OpenOptions, 'onStep' | 'signal'>>

/** Does work in this process, with progress on a terminal, or where commands go: on a server, or as another user. */
async function atHome<R>(
  cli: Cli,
  here: (backups: Backups, progress: Progress, app: App) => Promise<R>,
  there: (() => Promise<R>) | undefined,
  open?: Open,
): Promise<R> {
  if (there && (cli.globals().as !== undefined || (await findServer(cli)))) return there()
  return withBackups(cli, here, open)
}

type Open = (settings: Settings) => App | Promise<App>

/** Opens no database by default: a restore may find it lost, or empty. */
async function withBackups<R>(
  cli: Cli,
  work: (backups: Backups, progress: Progress, app: App) => Promise<R>,
  open: Open = composeApp,
): Promise<R> {
  const app = await open(await cli.settings())
  const bar = openProgress(cli)
  try {
    const progress: Progress = { signal: cli.signal(), onStep: ({ doing, share }) => bar.show(share, doing) }
    return await work(await app.backups(), progress, app)
  } finally {
    bar.clear()
    await app.close()
  }
}

/** A path, or the name of a kept backup; the newest where nothing is given. */
async function sourceOf(backups: Backups, backup: string | undefined): Promise<BackupSource> {
  if (backup !== undefined) return isPath(backup) ? { file: backup } : { name: backup }
  return { name: newestOf(await backups.list()) }
}

function newestOf(backups: readonly { readonly name: string }[]): string {
  const [newest] = backups
  if (!newest)
    throw new AppError('not_found', 'There is no backup yet', { details: ['Make one: aichat backup create'] })
  return newest.name
}

/** The name of a kept backup has no slash and a beginning of its own. */
function isPath(text: string): boolean {
  return basename(text) !== text || !/^aichat-\d{8}T\d{6}Z-/.test(text)
}

/** The passphrase that was piped in or is asked for; undefined where none is needed or the installation has its own. */
async function passphraseOf(cli: Cli, source: BackupSource, options: PassphraseOptions): Promise<string | undefined> {
  if (options.passphraseStdin) return (await readSecrets(cli, 1))[0]
  if ((await cli.settings()).environment['AICHAT_BACKUP_PASSPHRASE']) return undefined
  const isEncrypted = 'name' in source ? source.name.endsWith('.age') : isAge(source.file)
  return isEncrypted && (await canAsk(cli)) ? askSecret(cli, 'Passphrase', '--passphrase-stdin') : undefined
}

function isAge(file: string): boolean {
  try {
    return fileKindOf(file) === 'age'
  } catch {
    // The later full read reports that the file cannot be read.
    return false
  }
}

function textOf(cli: Cli, { name, created_at, program, schema, users, files, bytes, keys }: VerifiedBackup): string {
  return [
    `valid   ${name}`,
    `  made     ${momentText(cli, created_at)} by ${program}, schema ${schema}`,
    `  holds    ${counted(users, 'user')}, ${counted(files, 'file')}, ${sizeText(bytes)} unpacked`,
    ...(keys.length > 0 ? [`  keys set ${keys.join(', ')} (their values are in no backup)`] : []),
  ].join('\n')
}
