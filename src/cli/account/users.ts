import { type Command, Option } from 'commander'
import { AppError } from '../../errors.ts'
import { type Cli, confirm, note, show, table } from '../terminal/cli.ts'

type Role = 'admin' | 'user'

interface UserRow {
  readonly id: string
  readonly username: string
  readonly email: string | null
  readonly role: Role
  readonly created_at: number
  readonly updated_at: number
}

/** `aichat users …`: who may log in. A user is named by id or by username. */
export function addUserCommands(program: Command, cli: Cli): void {
  const users = program.command('users').description('manage the users (for administrators)')

  users
    .command('list')
    .description('list the users')
    .option('--limit <count>', 'at most so many, up to 200')
    .option('--offset <count>', 'leave out so many at the beginning')
    .option('--search <text>', 'only those whose name or address holds the text')
    .action(async (options: { limit?: string; offset?: string; search?: string }) => {
      const page = await cli.ask((await operations()).listUsers, {
        ...(options.limit !== undefined && { limit: options.limit }),
        ...(options.offset !== undefined && { offset: options.offset }),
        ...(options.search !== undefined && { q: options.search }),
      })
      await show(cli, page, (found) =>
        table(cli, found.users, [
          ['ID', (user) => user.id],
          ['NAME', (user) => user.username],
          ['ROLE', (user) => user.role],
          ['EMAIL', (user) => user.email ?? ''],
          ['CREATED', (user) => dateOf(user.created_at)],
        ]),
      )
      if (page.total > page.offset + page.users.length)
        note(cli, `aichat: ${page.total} in all; --offset ${page.offset + page.users.length} shows the next`)
    })

  users
    .command('show <user>')
    .description('show a user')
    .action(async (name: string) => {
      const user = await cli.ask((await operations()).showUser, { id: await idOf(cli, name) })
      await show(cli, user, block)
    })

  users
    .command('create <username>')
    .description('create a user; the first one is an administrator whatever role was asked')
    .option('--email <address>', 'an address, which also works to log in')
    .addOption(new Option('--role <role>', 'what the user may do').choices(['user', 'admin']))
    .option('--password-stdin', 'read the password from stdin')
    .action(async (username: string, options: { email?: string; role?: Role; passwordStdin?: boolean }) => {
      const { newPassword } = await import('./run.ts')
      const { refuseBesideOtherDaemon } = await import('./other-daemon.ts')
      await refuseBesideOtherDaemon(cli, `users create ${username}`)
      const user = await cli.ask((await operations()).createUser, {
        username,
        password: await newPassword(cli, options.passwordStdin === true),
        ...(options.email !== undefined && { email: options.email }),
        ...(options.role !== undefined && { role: options.role }),
      })
      await show(cli, user, ({ id }) => id)
    })

  users
    .command('update <user>')
    .description("change a user's name, address or role")
    .option('--username <name>', 'the new name')
    .option('--email <address>', 'the new address; an empty one removes it')
    .addOption(
      new Option('--role <role>', 'what the user may do; a change ends their logins').choices(['user', 'admin']),
    )
    .action(async (name: string, options: { username?: string; email?: string; role?: Role }) => {
      if (Object.keys(options).length === 0)
        throw new AppError('usage', 'There is nothing to change: say --username, --email or --role')
      const user = await cli.ask((await operations()).updateUser, { ...options, id: await idOf(cli, name) })
      await show(cli, user, ({ id }) => id)
    })

  users
    .command('remove <user...>')
    .alias('rm')
    .description('remove users and all that is theirs')
    .action(async (names: readonly string[]) => {
      const { removeUser, showUser } = await operations()
      const ids: string[] = []
      for (const name of names) ids.push((await cli.ask(showUser, { id: await idOf(cli, name) })).id)
      await confirm(cli, `Remove ${names.join(', ')} and all that is theirs?`)
      const removed: { message: string; id: string }[] = []
      for (const id of ids) removed.push(await cli.ask(removeUser, { id }))
      await show(cli, removed.length === 1 ? removed[0] : { users: removed }, () =>
        removed.map(({ id }) => id).join('\n'),
      )
    })

  users
    .command('reset-password <user>')
    .description('set the password of a user, or make a random one; it ends the logins of the user')
    .option('--password-stdin', 'read the password from stdin; without it a random one is made and printed')
    .action(async (name: string, options: { passwordStdin?: boolean }) => {
      const { resetPassword } = await import('../../operations/auth.ts')
      const { readSecrets } = await import('../terminal/prompts.ts')
      const [password] = options.passwordStdin ? await readSecrets(cli, 1) : []
      const answer = await cli.ask(resetPassword, {
        user_id: await idOf(cli, name),
        ...(password !== undefined && { new_password: password }),
      })
      await show(cli, answer, ({ temporary_password }) => temporary_password ?? '')
    })

  users
    .command('stats')
    .description('count users and logins')
    .action(async () => {
      const counts = await cli.ask((await operations()).countUsers, {})
      await show(cli, counts, (found) =>
        table(cli, Object.entries(found), [
          ['WHAT', ([what]) => what.replaceAll('_', ' ')],
          ['COUNT', ([, count]) => String(count)],
        ]),
      )
    })
}

function operations() {
  return import('../../operations/users.ts')
}

/** The id of a user; a username is looked up. Throws `not_found`. */
async function idOf(cli: Cli, name: string): Promise<string> {
  if (/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(name)) return name
  const { listUsers } = await operations()
  const wanted = name.toLowerCase()
  const { users } = await cli.ask(listUsers, { q: name, limit: 200 })
  const found = users.find((user) => user.username.toLowerCase() === wanted || user.email?.toLowerCase() === wanted)
  if (!found) throw new AppError('not_found', `There is no user "${name}"`)
  return found.id
}

function block(user: UserRow): string {
  const lines: readonly [string, string][] = [
    ['id', user.id],
    ['username', user.username],
    ['email', user.email ?? ''],
    ['role', user.role],
    ['created', dateOf(user.created_at)],
    ['changed', dateOf(user.updated_at)],
  ]
  return lines.map(([label, value]) => `${label.padEnd(10)}${value}`.trimEnd()).join('\n')
}

function dateOf(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace('T', ' ')
}
