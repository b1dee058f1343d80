import type { z } from 'zod'
import { AppError } from '../../errors.ts'
import {
  countUsers,
  createUser,
  listUsers,
  removeUser,
  resetPassword as resetPasswordOperation,
  showUser,
  updateUser,
} from '../../operations/operations.ts'
import { newPassword, noteLiveKeys } from '../account/actions.ts'
import { refuseBesideOtherDaemon } from '../account/other-daemon.ts'
import type { Cli } from '../terminal/cli.ts'
import { fieldsOf } from '../terminal/fields.ts'
import { note, print, printRemoved } from '../terminal/output.ts'
import { given } from '../terminal/parsers.ts'
import { confirm, readSecrets } from '../terminal/prompts.ts'
import { labelled, listing, table } from '../terminal/table.ts'
import { momentText, timeText } from '../terminal/times.ts'

export async function list(cli: Cli, { search }: { search?: string }): Promise<void> {
  const page = await cli.ask(listUsers, fieldsOf(cli, listUsers))
  const none = search === undefined ? 'no users yet; create the administrator: aichat setup' : 'no user matches'
  await print(cli, page, ({ users }) =>
    listing(cli, users, none, [
      ['ID', (user) => user.id],
      ['NAME', (user) => user.username],
      ['ROLE', (user) => user.role],
      ['EMAIL', (user) => user.email ?? ''],
      ['CREATED', (user) => timeText(cli, user.created_at)],
    ]),
  )
  const next = page.offset + page.users.length
  if (page.total > next) note(cli, `aichat: ${page.total} in all; --offset ${next} shows the next`)
}

export async function show(cli: Cli, name: string): Promise<void> {
  await print(cli, await cli.ask(showUser, { id: await idOf(cli, name) }), (user) => userText(cli, user))
}

export async function create(
  cli: Cli,
  username: string,
  { passwordStdin }: { passwordStdin?: boolean },
): Promise<void> {
  await refuseBesideOtherDaemon(cli, `users create ${username}`)
  const password = await newPassword(cli, passwordStdin === true)
  await print(cli, await cli.ask(createUser, { ...fieldsOf(cli, createUser), username, password }), ({ id }) => id)
}

export async function update(cli: Cli, name: string): Promise<void> {
  const change = fieldsOf(cli, updateUser)
  if (Object.keys(change).length === 0)
    throw new AppError('usage', 'Nothing to change: add --username, --email or --role')
  await print(cli, await cli.ask(updateUser, { ...change, id: await idOf(cli, name) }), ({ id }) => id)
}

export async function remove(cli: Cli, names: readonly string[]): Promise<void> {
  const ids: string[] = []
  for (const name of names) ids.push((await cli.ask(showUser, { id: await idOf(cli, name) })).id)
  await confirm(cli, `Remove ${names.join(', ')} and all their data?`)
  const removed: z.output<typeof removeUser.output>[] = []
  for (const id of ids) removed.push(await cli.ask(removeUser, { id }))
  await printRemoved(cli, 'users', removed)
}

export async function resetPassword(
  cli: Cli,
  name: string,
  { passwordStdin }: { passwordStdin?: boolean },
): Promise<void> {
  const [new_password] = passwordStdin ? await readSecrets(cli, 1) : []
  const answer = await cli.ask(resetPasswordOperation, {
    ...fieldsOf(cli, resetPasswordOperation),
    user_id: await idOf(cli, name),
    ...given({ new_password }),
  })
  await print(cli, answer, ({ temporary_password }) => temporary_password ?? '')
  noteLiveKeys(cli, answer, name)
}

export async function countAll(cli: Cli): Promise<void> {
  await print(cli, await cli.ask(countUsers, {}), (counts) =>
    table(cli, Object.entries(counts), [
      ['NAME', ([name]) => name.replaceAll('_', ' ')],
      ['COUNT', ([, count]) => String(count)],
    ]),
  )
}

/** Finds the id of a user by name or email address. Throws `not_found`. */
export async function idOf(cli: Cli, name: string): Promise<string> {
  if (/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(name)) return name
  const wanted = name.toLowerCase()
  const { users } = await cli.ask(listUsers, { q: name, limit: 200 })
  const found = users.find((user) => user.username.toLowerCase() === wanted || user.email?.toLowerCase() === wanted)
  if (!found) throw new AppError('not_found', `User "${name}" not found`)
  return found.id
}

function userText(cli: Cli, user: z.output<typeof showUser.output>): string {
  return labelled(
    [
      ['id', user.id],
      ['username', user.username],
      ['email', user.email ?? undefined],
      ['role', user.role],
      ['created', momentText(cli, user.created_at)],
      ['changed', momentText(cli, user.updated_at)],
    ],
    10,
  )
}
