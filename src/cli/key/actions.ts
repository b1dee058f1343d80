import type { z } from 'zod'
import { AppError } from '../../errors.ts'
import {
  createKey,
  type keyView,
  listKeys,
  revokeKey,
  rotateKey,
  showKey,
  updateKey,
} from '../../operations/operations.ts'
import { withBudgets } from '../limit/actions.ts'
import type { Cli } from '../terminal/cli.ts'
import { fieldsOf } from '../terminal/fields.ts'
import { keyIdOf } from '../terminal/key-id.ts'
import { note, print } from '../terminal/output.ts'
import { given } from '../terminal/parsers.ts'
import { labelled, listing } from '../terminal/table.ts'
import { momentText, timeText } from '../terminal/times.ts'
import { idOf } from '../users/actions.ts'

type Key = z.output<typeof keyView>

export async function create(
  cli: Cli,
  name: string | undefined,
  { user, budget }: { readonly user?: string; readonly budget?: readonly string[] },
): Promise<void> {
  const { limits, ...fields } = fieldsOf(cli, createKey)
  const answer = await cli.ask(createKey, {
    ...fields,
    ...given({
      name,
      user_id: user === undefined ? undefined : await idOf(cli, user),
      limits: withBudgets(cli, limits, budget),
    }),
  })
  await print(cli, answer, ({ secret }) => secret)
  note(
    cli,
    `aichat: ${answer.name} is ${answer.id}, ${endOf(cli, answer)}; this is the only time that its secret is shown`,
  )
}

export async function list(cli: Cli, { all, user }: { all?: true; user?: string }): Promise<void> {
  if (all && user !== undefined) throw new AppError('usage', '--all and --user exclude each other')
  const fields = fieldsOf(cli, listKeys)
  const page = await cli.ask(listKeys, { ...fields, ...(user !== undefined && { user_id: await idOf(cli, user) }) })
  await print(cli, page, ({ keys }) =>
    listing(cli, keys, 'no API keys; make one: aichat key create NAME', [
      ['ID', (key) => key.id],
      ['NAME', (key) => key.name],
      ['OWNER', (key) => key.username ?? 'gone'],
      ['STATE', (key) => key.state],
      ['SECRET', (key) => `…${key.last4}`],
      ['EXPIRES', (key) => (key.expires_at === null ? 'never' : timeText(cli, key.expires_at))],
      ['LAST USE', (key) => (key.last_used_at === null ? 'never' : timeText(cli, key.last_used_at))],
    ]),
  )
  const next = Number(fields.offset ?? 0) + page.keys.length
  if (page.total > next) note(cli, `aichat: ${page.total} in all; --offset ${next} shows the next`)
}

export async function show(cli: Cli, key: string): Promise<void> {
  await print(cli, await cli.ask(showKey, { id: await keyIdOf(cli, key) }), (found) => keyText(cli, found))
}

export async function update(cli: Cli, key: string): Promise<void> {
  const change = fieldsOf(cli, updateKey)
  if (Object.keys(change).length === 0)
    throw new AppError('usage', 'Nothing to change: add --name, --scope, --plugin, --model, --persona or --expires')
  await print(cli, await cli.ask(updateKey, { ...change, id: await keyIdOf(cli, key) }), ({ id }) => id)
}

export async function revoke(cli: Cli, keys: readonly string[]): Promise<void> {
  const ids: string[] = []
  for (const key of keys) ids.push(await keyIdOf(cli, key))
  // All are looked up first: a misspelt one must not leave the others half done.
  for (const id of ids) await cli.ask(showKey, { id })
  const revoked: { id: string; revoked: true }[] = []
  for (const id of ids) revoked.push(await cli.ask(revokeKey, { id }))
  await print(cli, revoked.length === 1 ? revoked[0] : { keys: revoked }, () => revoked.map(({ id }) => id).join('\n'))
}

export async function rotate(cli: Cli, key: string): Promise<void> {
  const answer = await cli.ask(rotateKey, { ...fieldsOf(cli, rotateKey), id: await keyIdOf(cli, key) })
  await print(cli, answer, ({ secret }) => secret)
  const before = answer.secrets[1]
  if (before && before.valid_until !== null)
    note(cli, `aichat: the old secret …${before.last4} works until ${momentText(cli, before.valid_until)}`)
}

function endOf(cli: Cli, { expires_at }: Key): string {
  return expires_at === null ? 'valid until it is revoked' : `valid until ${momentText(cli, expires_at)}`
}

function keyText(cli: Cli, key: Key): string {
  const time = (at: number | null) => (at === null ? 'never' : momentText(cli, at))
  return labelled([
    ['id', key.id],
    ['name', key.name],
    ['owner', key.username ?? `${key.user_id} (gone)`],
    ['state', key.state],
    ['scopes', key.scopes.join(', ')],
    ['models', key.models?.join(', ') ?? 'all'],
    ['plugins', key.plugins?.join(', ') ?? 'all'],
    ['personas', key.personas?.join(', ') ?? (key.scopes.includes('personas') ? 'all' : 'none')],
    ['created', momentText(cli, key.created_at)],
    ['expires', time(key.expires_at)],
    ['revoked', key.revoked_at === null ? undefined : momentText(cli, key.revoked_at)],
    ['last use', time(key.last_used_at)],
    ...key.secrets.map(({ last4, valid_until, last_used_at }, at): [string, string] => [
      at === 0 ? 'secret' : 'old secret',
      `…${last4}, last use ${time(last_used_at)}${valid_until === null ? '' : `, until ${momentText(cli, valid_until)}`}`,
    ]),
  ])
}
