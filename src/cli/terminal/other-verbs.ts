import type { Command } from 'commander'

/** Commands of other tools (llm, mods, ollama run, aichat in Rust), and ours for the same; those that are there are named. */
const others: Readonly<Record<string, readonly string[]>> = {
  run: ['chat'],
  ask: ['chat'],
  prompt: ['chat'],
  logs: ['session list', 'session show NAME'],
  history: ['session list'],
  keys: ['secret list', 'key list'],
  roles: ['persona list'],
  agents: ['persona list'],
  list: ['models list', 'session list'],
  collections: ['persona list'],
  ls: ['models list', 'session list'],
  pull: ['models pull NAME'],
  rm: ['models remove NAME'],
  ps: ['models ps'],
  show: ['models show MODEL'],
  aliases: ['models alias'],
  alias: ['models alias NAME MODEL'],
  templates: ['template list', 'persona list'],
  embed: ['models embeddings'],
  similar: ['persona memory search NAME TEXT'],
  search: ['session search TEXT', 'persona memory search NAME TEXT'],
  schemas: ['chat --schema FILE'],
  tools: ['mcp list'],
  say: ['tts'],
  speak: ['tts'],
  daemon: ['serve'],
  start: ['serve'],
  server: ['serve'],
  info: ['status'],
  install: ['plugin install FILE'],
  update: ['models refresh --all'],
}

/** Words of other tools for the verbs of a command group, the likeliest of ours first. */
const verbs: Readonly<Record<string, readonly string[]>> = {
  ls: ['list'],
  all: ['list'],
  rm: ['remove', 'revoke', 'forget'],
  del: ['remove', 'revoke', 'forget'],
  delete: ['remove', 'revoke', 'forget'],
  uninstall: ['remove'],
  get: ['show', 'get'],
  info: ['show'],
  cat: ['show'],
  describe: ['show'],
  inspect: ['show'],
  new: ['create', 'add'],
  add: ['create', 'install', 'set', 'pull'],
  create: ['add', 'install'],
  edit: ['update', 'set'],
  modify: ['update', 'set'],
  use: ['activate', 'set'],
  switch: ['activate'],
  enable: ['activate'],
  download: ['pull'],
  install: ['pull', 'add'],
  find: ['search', 'list'],
}

/** `Did you mean aichat session list?` for a word that other tools have; undefined for any other word. */
export function suggestionFor(word: string, command: Command): string | undefined {
  const names = command.commands.map((each) => each.name())
  const path = pathOf(command)
  const known = path.length === 0 ? othersIn(command, word) : ownVerb(word, names)
  if (!known || known.length === 0) return undefined
  return `Did you mean ${known.map((each) => ['aichat', ...path, each].join(' ')).join(' or ')}?`
}

/** Our commands for a word of another tool, as far as they are in the tree. */
function othersIn(program: Command, word: string): readonly string[] | undefined {
  if (!Object.hasOwn(others, word)) return undefined
  return others[word]!.filter((line) => exists(program, line.split(' ')))
}

function exists(command: Command, [word, ...rest]: readonly string[]): boolean {
  const sub = command.commands.find((each) => each.name() === word)
  if (sub) return exists(sub, rest)
  // Options and placeholders follow the names of commands.
  if (word?.startsWith('--')) return command.options.some(({ long }) => long === word)
  return command.parent !== null && (word === undefined || word === word.toUpperCase())
}

function ownVerb(word: string, names: readonly string[]): readonly string[] | undefined {
  return Object.hasOwn(verbs, word) ? verbs[word]!.filter((verb) => names.includes(verb)).slice(0, 1) : undefined
}

/** The names of a command below the program. */
export function pathOf(command: Command): string[] {
  return command.parent ? [...pathOf(command.parent), command.name()] : []
}
