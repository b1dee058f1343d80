import { Command } from 'commander'

/** A command with examples, shown by `--help` and in the manual. */
export class CliCommand extends Command {
  readonly examples: string[] = []

  /** Has the help of the program list each command and option, in place of an overview. */
  listsAll = false

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name).helpCommand(false)
  }

  /** The options and arguments, by the fields of requests that they fill where those have other names. */
  readonly fieldNames: Record<string, string> = {}

  /** Names the options that fill fields of other names, such as `importance_score`, for messages on wrong values. */
  fields(names: Readonly<Record<string, string>>): this {
    Object.assign(this.fieldNames, names)
    return this
  }

  /** The option or argument that fills a field of a request; undefined where none does. */
  nameOf(field: string): string | undefined {
    const known = this.fieldNames[field] ?? this.fieldNames[field.split('.')[0]!]
    if (known !== undefined) return known
    const [first = ''] = field.split('.')
    const option = this.options.find(({ long }) => long?.replace(/^--(?:no-)?/, '').replaceAll('-', '_') === first)
    const argument = this.registeredArguments.find((each) => each.name() === first)
    return option?.long ?? argument?.name().toUpperCase()
  }

  /** Adds shell lines; test/cli/help/examples.test.ts parses each. */
  example(...lines: readonly string[]): this {
    this.examples.push(...lines)
    return this
  }
}
