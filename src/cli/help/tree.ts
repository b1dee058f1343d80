import type { Command } from 'commander'

/** A command as help, completion and the manual need it. */
export interface CommandNode {
  /** The words after `aichat`; empty for the program itself. */
  readonly path: readonly string[]
  readonly description: string
  readonly arguments: readonly { readonly name: string; readonly required: boolean; readonly variadic: boolean }[]
  /** The words that the first argument can be, where they are few. */
  readonly choices: readonly string[]
  readonly flags: readonly Flag[]
  readonly commands: readonly CommandNode[]
}

export interface Flag {
  readonly short: string | undefined
  readonly long: string | undefined
  /** The name of its value as the help shows it, or undefined for a switch. */
  readonly value: string | undefined
  readonly choices: readonly string[]
  readonly description: string
}

/** The command tree of a program, without what is hidden. */
export function treeOf(command: Command, path: readonly string[] = []): CommandNode {
  const visible = command.createHelp().visibleCommands(command)
  return {
    path,
    description: command.description(),
    arguments: command.registeredArguments.map((argument) => ({
      name: argument.name(),
      required: argument.required,
      variadic: argument.variadic,
    })),
    choices: command.registeredArguments[0]?.argChoices ?? [],
    flags: command
      .createHelp()
      .visibleOptions(command)
      .map((option) => ({
        short: option.short,
        long: option.long,
        value: /[<[]([^>\]]+)[>\]]/.exec(option.flags)?.[1],
        choices: option.argChoices ?? [],
        description: option.description,
      })),
    commands: visible.map((sub) => treeOf(sub, [...path, sub.name()])),
  }
}

/** The node and all below it, parents first. */
export function flatten(node: CommandNode): readonly CommandNode[] {
  return [node, ...node.commands.flatMap(flatten)]
}
