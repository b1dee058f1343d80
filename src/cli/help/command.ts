import type { Command } from 'commander'
import type { Cli } from '../terminal/cli.ts'

/** `aichat help`. */
export function addHelpCommand(program: Command, cli: Cli): void {
  program
    .command('help [topic...]')
    .description('show help about a command or a topic: environment, exit-codes, json, systemd (a unit file)')
    .action(async (topic: readonly string[]) => {
      const { helpAbout } = await import('./topics.ts')
      await cli.io.out(helpAbout(program, topic))
    })
}
