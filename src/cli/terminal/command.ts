import { Command } from 'commander'

/** A command with examples, shown by `--help` and in the manual. */
export class CliCommand extends Command {
  readonly examples: string[] = []

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name).helpCommand(false)
  }

  /** Adds shell lines; test/cli/help/examples.test.ts parses each. */
  example(...lines: readonly string[]): this {
    this.examples.push(...lines)
    return this
  }
}
