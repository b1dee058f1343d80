import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'

/** `aichat secret …`: provider keys on this machine. Values come from a prompt or stdin and are never printed. */
export function addSecretCommands(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./actions.ts'))
  const secret = program
    .command('secret')
    .description('manage the provider keys on this machine')
    .example('aichat secret set OPENAI_API_KEY')

  secret
    .command('set <name>')
    .description('store a key, such as OPENAI_API_KEY, from a prompt or from stdin')
    .option('--insecure-storage', 'without a keychain, keep the key in a file that only you can read')
    .example('aichat secret set OPENAI_API_KEY', 'aichat secret set GROQ_API_KEY < key.txt')
    .action(run((secrets) => secrets.set))

  secret
    .command('list')
    .description('list the keys and where each is kept, never their values')
    .example('aichat secret list')
    .action(run((secrets) => secrets.list))

  secret
    .command('remove <name>')
    .alias('rm')
    .description('remove a stored key')
    .example('aichat secret remove OPENAI_API_KEY')
    .action(run((secrets) => secrets.remove))
}
