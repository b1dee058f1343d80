import { AppError } from '../../errors.ts'
import { listKeys } from '../../operations/operations.ts'
import type { Cli } from './cli.ts'

/** Keys that are looked through for a name: a user may have 100 live ones, and dead ones beside them. */
const page = 100

/**
 * The id of a key, from its id or from its name where exactly one of the caller's keys has that, live ones first. Any other
 * text comes back as it is, for the operation to refuse. Throws `usage` where several keys have the name.
 */
export async function keyIdOf(cli: Cli, idOrName: string): Promise<string> {
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(idOrName)) return idOrName
  const named: { readonly id: string; readonly state: string }[] = []
  for (let offset = 0, total = 1; offset < total; offset += page) {
    const found = await cli.ask(listKeys, { limit: page, offset })
    named.push(...found.keys.filter(({ name }) => name === idOrName))
    total = found.total
  }
  const live = named.filter(({ state }) => state === 'live')
  const meant = live.length > 0 ? live : named
  if (meant.length > 1)
    throw new AppError('usage', `Several API keys are named "${idOrName.slice(0, 100)}"`, {
      details: meant.map(({ id, state }) => `${id} (${state})`),
    })
  return meant[0]?.id ?? idOrName
}
