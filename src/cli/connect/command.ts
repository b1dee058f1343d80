import { Option } from 'commander'
import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'

/** `aichat connect`: other programs that ask this installation. */
export function addConnectCommands(program: CliCommand, cli: Cli): void {
  program
    .command('connect')
    .argument('[client]', 'codex, claude, opencode, aider, or the libraries openai, anthropic and ollama')
    .description('print the lines for a shell that point a client at the daemon; without a client list them')
    .addOption(
      new Option(
        '-m, --model <model>',
        'the model; given several times all are offered, the first to start with',
      ).argParser((model: string, before: readonly string[] = []) => [...before, model]),
    )
    .option('-p, --persona <persona>', 'this persona in place of a model; the key reaches her alone')
    .option('--key <key>', 'use this API key, - to read it from stdin; by default one is made')
    .addOption(new Option('--shell <shell>', 'the shell of the lines').choices(['bash', 'zsh', 'fish']))
    .example(
      'aichat connect',
      'eval "$(aichat connect codex --model openai:gpt-4o)"',
      'eval "$(aichat connect opencode --persona Ada)"',
      'aichat connect claude --shell fish | source',
    )
    .action(lazyActions(cli, () => import('./actions.ts'))(({ connect }) => connect))
}
