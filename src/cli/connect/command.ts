import { Argument, Option } from 'commander'
import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'

/** `aichat connect`: other programs that ask this installation. */
export function addConnectCommands(program: CliCommand, cli: Cli): void {
  pointed(
    program
      .command('connect')
      .addArgument(client('[client]'))
      .description(
        'point a client at the daemon: its own configuration file is changed, and kept beside it as it was; without a client list them',
      ),
  )
    .option('--key <key>', 'use this API key, - to read it from stdin; by default one is made')
    .option('--print', 'change nothing: print the lines for a shell, or the files as they would become')
    .addOption(new Option('--shell <shell>', 'the shell of the lines').choices(['bash', 'zsh', 'fish']))
    .option('--undo', 'put its file back as it was, and revoke its key')
    .example(
      'aichat connect',
      'aichat connect codex --model openai:gpt-4o',
      'aichat connect opencode --persona Ada',
      'aichat connect claude --print --shell fish',
      'eval "$(aichat connect openai)"',
      'aichat connect codex --undo',
    )
    .action(lazyActions(cli, () => import('./actions.ts'))(({ connect }) => connect))
}

function client(name: string): Argument {
  return new Argument(name, 'codex, claude, opencode, aider, or the libraries openai, anthropic and ollama')
}

function pointed(command: CliCommand): CliCommand {
  return command
    .addOption(
      new Option(
        '-m, --model <model>',
        'the model; given several times all are offered, the first to start with',
      ).argParser((model: string, before: readonly string[] = []) => [...before, model]),
    )
    .option('-p, --persona <persona>', 'this persona in place of a model; the key reaches her alone')
}
