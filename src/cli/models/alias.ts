import { AppError } from '../../errors.ts'
import { suggestion } from '../../formats/formats.ts'
import { reservedPrefixes } from '../../plugins/plugins.ts'
import {
  type Aliases,
  aliasFile,
  isAliasName,
  isAliasTarget,
  mostAliases,
  type Paths,
  readAliases,
} from '../../settings/settings.ts'
import { replaceFile, whileLocked } from '../../storage/storage.ts'
import type { Cli } from '../terminal/cli.ts'
import { print } from '../terminal/output.ts'
import { listing } from '../terminal/table.ts'

/** Lists the aliases of this user, shows one, or sets or removes it. They are kept here also where a server is asked. */
export async function alias(
  cli: Cli,
  name: string | undefined,
  model: string | undefined,
  options: { readonly remove?: true },
): Promise<void> {
  const { paths } = await cli.settings()
  const known = readAliases(paths)
  if (options.remove) return remove(cli, known, name, model)
  if (name === undefined) return list(cli, known)
  if (model === undefined) {
    const stored = known.get(name)
    if (stored === undefined) throw notFound(name, known)
    return print(cli, { name, model: stored }, () => stored)
  }
  const target = targetOf(known, name, model)
  change(paths, (before) => {
    if (!before.has(name) && before.size >= mostAliases)
      throw new AppError('invalid', `There may be at most ${mostAliases} aliases: remove one first`)
    return [...before, [name, target]]
  })
  await print(cli, { name, model: target }, () => `${name} is ${target}`)
}

function list(cli: Cli, known: Aliases): Promise<void> {
  const aliases = [...known].map(([name, model]) => ({ name, model })).sort((a, b) => (a.name < b.name ? -1 : 1))
  return print(cli, { aliases }, () =>
    listing(cli, aliases, 'no aliases; add one: aichat models alias fast groq:llama-3.3-70b-versatile', [
      ['ALIAS', (row) => row.name],
      ['MODEL', (row) => row.model],
    ]),
  )
}

async function remove(cli: Cli, known: Aliases, name: string | undefined, model: string | undefined): Promise<void> {
  if (name === undefined || model !== undefined)
    throw new AppError('usage', 'Name one alias to remove: aichat models alias NAME --remove')
  if (!known.has(name)) throw notFound(name, known)
  const { paths } = await cli.settings()
  change(paths, (before) => [...before].filter(([each]) => each !== name))
  await print(cli, { name, removed: true as const }, () => name)
}

function change(paths: Paths, alter: (before: Aliases) => Iterable<readonly [string, string]>): void {
  const file = aliasFile(paths)
  // A second entry of a name takes the place of the first.
  const written = () => JSON.stringify(Object.fromEntries(alter(readAliases(paths))), null, 2)
  whileLocked(file, () => replaceFile(file, `${written()}\n`))
}

/** The model that the alias will stand for. Throws `invalid` for a wrong name or model. */
function targetOf(known: Aliases, name: string, model: string): string {
  if (!isAliasName(name))
    throw new AppError('invalid', `Invalid alias "${name.slice(0, 100)}"`, {
      details: ['It must be 1 to 64 letters, digits, ".", "_" and "-", and begin with a letter or digit'],
    })
  if (!isAliasTarget(model))
    throw new AppError(
      'invalid',
      'Invalid model: it must be a line of at most 300 characters, without spaces at its ends',
    )
  // Resolves a chain of aliases once: later changes of an alias in it do not matter.
  const target = known.get(model) ?? model
  if (target === name) throw new AppError('invalid', `The alias ${name} would stand for itself`)
  if (reservedPrefixes.has(name)) throw new AppError('invalid', `The name "${name}" is taken: it is a word of aichat`)
  return target
}

function notFound(name: string, known: Aliases): AppError {
  return new AppError('not_found', `Alias "${name.slice(0, 100)}" not found${suggestion(name, known.keys())}`, {
    details: ['`aichat models alias` lists them'],
  })
}
