import type { CliCommand } from '../terminal/command.ts'

/** A command as completions and manual read it. */
export interface CommandNode {
  /** The words after `aichat`; empty for the program itself. */
  readonly path: readonly string[]
  readonly description: string
  readonly arguments: readonly { readonly name: string; readonly required: boolean; readonly variadic: boolean }[]
  /** The choices of the first argument, if it has any. */
  readonly choices: readonly string[]
  readonly flags: readonly Flag[]
  /** Shell lines. */
  readonly examples: readonly string[]
  readonly commands: readonly CommandNode[]
}

export interface Flag {
  readonly short: string | undefined
  readonly long: string | undefined
  /** The name of its value; undefined for a switch. */
  readonly value: string | undefined
  readonly choices: readonly string[]
  /** The default value; undefined for none, and for switches. */
  readonly fallback: string | undefined
  readonly description: string
}

/** The command tree of a program, without hidden commands and options. */
export function treeOf(command: CliCommand, path: readonly string[] = []): CommandNode {
  const help = command.createHelp()
  return {
    path,
    description: command.description(),
    arguments: command.registeredArguments.map((argument) => ({
      name: argument.name(),
      required: argument.required,
      variadic: argument.variadic,
    })),
    choices: command.registeredArguments[0]?.argChoices ?? [],
    flags: help.visibleOptions(command).map((option) => ({
      short: option.short,
      long: option.long,
      value: /[<[]([^<>[\]]+)[>\]]/.exec(option.flags)?.[1],
      choices: option.argChoices ?? [],
      fallback: option.required && option.defaultValue !== undefined ? String(option.defaultValue) : undefined,
      description: option.description,
    })),
    examples: command.examples,
    commands: help.visibleCommands(command).map((sub) => treeOf(sub as CliCommand, [...path, sub.name()])),
  }
}

/** The node and its descendants, parents first. */
export function flatten(node: CommandNode): readonly CommandNode[] {
  return [node, ...node.commands.flatMap(flatten)]
}
