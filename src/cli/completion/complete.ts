import { extensionNames } from '../extension/find.ts'
import { type CommandNode, type Flag, treeOf } from '../help/tree.ts'
import type { Cli } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'
import { argumentsOf, repeatsLast, valuesOf } from './kinds.ts'
import { wordsOf } from './words.ts'

type Choice = readonly [word: string, what?: string]

/**
 * Prints the words that may stand in the place of the last argument, one a line, each with a tab and what it is; nothing for a file
 * or a text, and on any failure. The scripts of the shells ask for it.
 */
export async function printChoices(cli: Cli, program: CliCommand, words: readonly string[]): Promise<void> {
  const choices = await choicesFor(cli, treeOf(program), words)
  await cli.io.out(choices.map((choice) => `${choice.filter(Boolean).join('\t')}\n`).join(''))
}

async function choicesFor(cli: Cli, root: CommandNode, words: readonly string[]): Promise<readonly Choice[]> {
  const last = words.at(-1) ?? ''
  let node = root
  /** The arguments before the last one, and the option whose value that is. */
  let before: string[] = []
  let flag: Flag | undefined
  const flags = () => (node === root ? root.flags : [...node.flags, ...root.flags])
  for (const word of words.slice(0, -1)) {
    if (flag) flag = undefined
    else if (word.startsWith('-')) flag = flags().find((each) => each.value !== undefined && isNamed(each, word))
    else {
      const next = before.length === 0 ? node.commands.find(({ path }) => path.at(-1) === word) : undefined
      if (next) node = next
      else before = [...before, word]
    }
  }
  const [context = ''] = before
  if (flag) {
    const values = valuesOf(root.flags.includes(flag) ? root : node, flag)
    if (!values) return []
    return 'kind' in values ? namesOf(cli, values.kind, context) : values.words.map((word) => [word])
  }
  if (last.startsWith('-'))
    return flags().flatMap((each) => namesIn(each).map((name) => [name, each.description] as const))
  const kinds = argumentsOf(node)
  const kind = kinds[before.length] ?? (repeatsLast(node) ? kinds.at(-1) : undefined)
  return [
    ...(before.length > 0 ? [] : node.commands.map(({ path, description }) => [path.at(-1)!, description] as const)),
    ...(before.length > 0 ? [] : node.choices.map((word) => [word] as const)),
    ...(kind === undefined ? [] : await namesOf(cli, kind, context)),
    // A program aichat-NAME is a command too.
    ...(node === root ? extensionNames(cli.io.environment).map((name) => [name] as const) : []),
  ]
}

async function namesOf(cli: Cli, kind: string, context: string): Promise<readonly Choice[]> {
  return (await wordsOf(cli, kind, context)).map((word) => [word])
}

function namesIn({ short, long }: Flag): readonly string[] {
  return [short, long].filter((name) => name !== undefined)
}

function isNamed(flag: Flag, name: string): boolean {
  return namesIn(flag).includes(name)
}
