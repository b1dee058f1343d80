import type { CommandNode, Flag } from '../help/tree.ts'

/** Kinds of first arguments, by command or group and the argument's name. */
const argumentKinds: Readonly<Record<string, string>> = {
  'plugin id': 'plugins',
  'models plugin': 'plugins',
  'models pull name': 'models-to-pull',
  'models remove name': 'pulled-models',
  'persona id': 'personas',
  'session id': 'sessions',
  'template name': 'templates',
  'users user': 'users',
  'config name': 'settings',
  'secret name': 'keys',
  'key id': 'api-keys',
  'serve server': 'servers',
  'connect client': 'clients',
  'launch client': 'clients',
  'help topic': 'topics',
}

/** Kinds of option values, by group and option, or by option alone. */
const flagKinds: Readonly<Record<string, string>> = {
  'chat --model': 'models',
  'persona --model': 'models',
  'connect --model': 'models',
  'launch --model': 'models',
  'tts --model': 'speech-servers',
  'chat --role': 'personas',
  'chat --template': 'templates',
  'template --model': 'models',
  'usage --model': 'models',
  'usage --user': 'users',
  'usage --plugin': 'plugins',
  'usage --key': 'api-keys',
  '--persona': 'personas',
  '--session': 'sessions',
  '--voice': 'voices',
  '--as': 'users',
  'key --plugin': 'plugins',
  'key --model': 'models',
  'key --user': 'users',
}

/** The kind of a command's arguments, for `aichat __complete`; undefined for files and texts. */
export function argumentKind({ path, arguments: [first] }: CommandNode): string | undefined {
  return first && (argumentKinds[`${path.join(' ')} ${first.name}`] ?? argumentKinds[`${path[0]} ${first.name}`])
}

/** The values of an option: fixed words, or a kind; undefined for a switch, a file or a text. */
export function valuesOf({ path }: CommandNode, { long, choices }: Flag): Values | undefined {
  if (choices.length > 0) return { words: choices }
  const kind = flagKinds[`${path[0]} ${long}`] ?? flagKinds[`${long}`]
  return kind === undefined ? undefined : { kind }
}

export type Values = { readonly words: readonly string[] } | { readonly kind: string }

/** Options with a value in every command: the word behind one is no command. */
export function valuedFlags(nodes: readonly CommandNode[]): readonly string[] {
  const flags = nodes.flatMap((node) => node.flags)
  const switches = new Set(flagNames(flags.filter(({ value }) => value === undefined)))
  return [...new Set(flagNames(flags.filter(({ value }) => value !== undefined)))].filter((name) => !switches.has(name))
}

/** `case` patterns of bash and zsh for each step down the tree. */
export function stepPatterns(nodes: readonly CommandNode[]): string {
  return nodes
    .filter(({ path }) => path.length > 0)
    .map(({ path }) => `'${path.slice(0, -1).join(' ')}|${path.at(-1)}'`)
    .join(' | ')
}

/** `case` branches of bash and zsh for options with known values; global options apply after every command. */
export function valueBranches(
  nodes: readonly CommandNode[],
  root: CommandNode,
  assignment: (words: string) => string,
): string {
  return nodes
    .flatMap((node) => node.flags.map((flag) => ({ node, flag, values: valuesOf(node, flag) })))
    .flatMap(({ node, flag, values }) => {
      if (!values) return []
      const prefix = node === root ? `*'|` : `'${node.path.join(' ')}|`
      const patterns = flagNames([flag]).map((name) => `${prefix}${name}'`)
      const found = 'kind' in values ? `kind='${values.kind}'` : assignment(values.words.join(' '))
      return [`    ${patterns.join(' | ')}) ${found} ;;`]
    })
    .join('\n')
}

/** Short and long names of options. */
export function flagNames(flags: readonly Flag[]): readonly string[] {
  return flags.flatMap(({ short, long }) => [short, long]).filter((name): name is string => name !== undefined)
}

/** The shell command that prints the words of a kind, within a second. */
export function wordsCommand(kind: string): string {
  return `aichat --timeout 1s __complete ${kind} 2>/dev/null </dev/null`
}
