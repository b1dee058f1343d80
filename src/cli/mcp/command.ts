import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'

/** `aichat mcp …`: the Model Context Protocol. */
export function addMcpCommands(program: CliCommand, cli: Cli): void {
  const mcp = program
    .command('mcp')
    .description('offer a persona’s memory to other programs by the Model Context Protocol')
    .example('aichat mcp --persona Ada')

  mcp
    .command('serve', { isDefault: true })
    .description('serve the memory of a persona on stdin and stdout, until stdin ends (the default)')
    .option('-p, --persona <persona>', 'the persona; without it chat.persona, else your only one')
    .option('--read-only', 'offer the tools that change nothing alone')
    .example('aichat mcp --persona Ada', 'aichat mcp serve --persona Ada --read-only')
    .action(lazyActions(cli, () => import('./serve.ts'))(({ serve }) => serve))
}
