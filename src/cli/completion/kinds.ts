import type { CommandNode, Flag } from '../help/tree.ts'

/** Kinds of arguments, by command or group and the argument's name. A new kind of word has its source in words.ts. */
const argumentKinds: Readonly<Record<string, string>> = {
  'plugin id': 'plugins',
  'models plugin': 'plugins',
  'models show model': 'models',
  'models alias name': 'aliases',
  'models alias model': 'models',
  'models pull name': 'models-to-pull',
  'models remove name': 'pulled-models',
  'prices plugin': 'plugins',
  'persona id': 'personas',
  'persona memory': 'memories',
  'persona backup': 'backups',
  'mcp show name': 'mcp-servers',
  'mcp remove name': 'mcp-servers',
  'mcp test name': 'mcp-servers',
  'mcp allow name': 'mcp-servers',
  'mcp deny name': 'mcp-servers',
  'mcp forget name': 'mcp-servers',
  'session id': 'sessions',
  'template name': 'templates',
  'users user': 'users',
  'config name': 'settings',
  'config set value': 'setting-values',
  'secret name': 'keys',
  'key key': 'api-keys',
  'limit subject': 'limit-subjects',
  'login url': 'logins',
  'serve server': 'servers',
  'connect client': 'clients',
  'help topic': 'topics',
}

/** Kinds of option values, by group and option, or by option alone. */
const flagKinds: Readonly<Record<string, string>> = {
  'chat --model': 'models',
  'persona --model': 'models',
  'connect --model': 'models',
  'tts --model': 'speech-servers',
  'chat --role': 'personas',
  'chat --mcp': 'mcp-servers',
  'persona --mcp': 'mcp-servers',
  'persona --embedding-model': 'embedding-models',
  'persona --into': 'personas',
  'prices --plugin': 'plugins',
  'tts --language': 'languages',
  '--server': 'logins',
  'chat --template': 'templates',
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
