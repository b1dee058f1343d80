import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFolder } from '../../app/app.ts'
import type { CommandNode, Flag } from '../help/tree.ts'

interface Kinds {
  /** Kinds of arguments, by command or group and the argument's name. A new kind of word has its source in words.ts. */
  readonly arguments: Readonly<Record<string, string>>
  /** Kinds of option values, by group and option, or by option alone. */
  readonly options: Readonly<Record<string, string>>
}

const { arguments: argumentKinds, options: flagKinds }: Kinds = JSON.parse(
  readFileSync(join(packageFolder('src'), 'cli/completion/kinds.json'), 'utf8'),
)

/** The kinds of a command's arguments, in order; undefined for files and texts. */
export function argumentsOf({ path, arguments: all }: CommandNode): readonly (string | undefined)[] {
  const kinds = all.map(({ name }) => argumentKinds[`${path.join(' ')} ${name}`] ?? argumentKinds[`${path[0]} ${name}`])
  return kinds.slice(0, kinds.findLastIndex((kind) => kind !== undefined) + 1)
}

/** Whether the last of the kinds holds for all arguments behind it as well. */
export function repeatsLast(node: CommandNode): boolean {
  const kinds = argumentsOf(node)
  return kinds.length === node.arguments.length && node.arguments.at(-1)?.variadic === true
}

/** The values of an option: fixed words, or a kind; undefined for a switch, a file or a text. */
export function valuesOf({ path }: CommandNode, { long, choices }: Flag): Values | undefined {
  if (choices.length > 0) return { words: choices }
  const kind = flagKinds[`${path[0]} ${long}`] ?? flagKinds[`${long}`]
  return kind === undefined ? undefined : { kind }
}

export type Values = { readonly words: readonly string[] } | { readonly kind: string }
