import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'

/** `aichat setup`: from nothing to an answer, and the administrator of a daemon. No option takes a key or a password. */
export function addSetUpCommand(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./actions.ts'))
  program
    .command('setup')
    .description('choose the model that answers: of a provider, of a server, or on this machine; again to change it')
    .option('--provider <id>', 'a provider of `aichat plugin list`, or ollama')
    .option('--key-stdin', 'read the key of the provider from stdin')
    .option('--address <url>', "a server that speaks OpenAI's API, such as http://127.0.0.1:8080/v1")
    .option('--model <model>', 'the model; without it, the default of the provider')
    .option('--account', 'create the administrator of a daemon that others use, while there are no users')
    .option('--username <name>', 'the name of the administrator; with it, --account is not needed')
    .field('--email <address>', 'an email address, which also works to log in')
    .option('--password-stdin', 'read the password of the administrator from stdin')
    .example(
      'aichat setup',
      'aichat setup --provider openai --key-stdin --model gpt-4.1-mini < key.txt',
      'aichat setup --address http://127.0.0.1:8080/v1',
      'aichat setup --account --username ada',
    )
    .action(run((setup) => setup.setUp))
}
