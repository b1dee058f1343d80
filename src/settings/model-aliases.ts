import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../errors.ts'
import { isPrintableLine, parseHandWritten } from '../formats/formats.ts'

/** Names of the user's own for models, with the models that they stand for. */
export type Aliases = ReadonlyMap<string, string>

export const mostAliases = 500

/** The longest model that a request may name: characters. */
const longestModel = 300

/** A name without a colon or slash: no `plugin:model`, `local:NAME` or `persona:NAME` is ever taken for one. */
export function isAliasName(name: string): boolean {
  return /^[a-z0-9][a-z0-9._-]{0,63}$/i.test(name)
}

/** Whether a text can be a model: one line without spaces at its ends, of at most 300 characters. */
export function isAliasTarget(model: string): boolean {
  return model !== '' && model.length <= longestModel && model === model.trim() && isPrintableLine(model)
}

/** The file of the aliases, in the folder of the settings. */
export function aliasFile({ config }: { readonly config: string }): string {
  return join(config, 'model-aliases.json')
}

/** The aliases in their file; an absent one has none. Throws `configuration` for a file that holds anything else. */
export function readAliases(paths: { readonly config: string }): Aliases {
  const path = aliasFile(paths)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code === 'ENOENT') return new Map()
    throw reason
  }
  const refusal = (more?: { readonly cause: unknown; readonly details: readonly string[] }) =>
    new AppError('configuration', `Invalid model aliases in ${path}: correct or remove the file`, more)
  let content: unknown
  try {
    content = parseHandWritten(text)
  } catch (cause) {
    throw refusal({ cause, details: (cause as AppError).details })
  }
  const entries = entriesOf(content)
  if (entries) return new Map(entries)
  throw refusal()
}

function entriesOf(content: unknown): readonly [string, string][] | undefined {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return undefined
  const entries = Object.entries(content) as [string, string][]
  const areValid = entries.every(
    ([name, model]) => isAliasName(name) && typeof model === 'string' && isAliasTarget(model),
  )
  return areValid && entries.length <= mostAliases ? entries : undefined
}

/** The model that a name stands for, by one alias, else the name itself. Throws as `readAliases`. */
export function resolveAlias(model: string, paths: { readonly config: string }): string {
  return isAliasName(model) ? (readAliases(paths).get(model) ?? model) : model
}
