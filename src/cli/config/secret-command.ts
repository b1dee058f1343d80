import type { Command } from 'commander'
import type { Cli } from '../terminal/cli.ts'
import type { SecretOptions } from './secrets.ts'

/** `aichat secret …`: the keys of providers, kept on this machine. Their values come from a prompt or stdin and are never shown. */
export function addSecretCommands(program: Command, cli: Cli): void {
  const secret = program.command('secret').description('keep the keys of providers on this machine')

  secret
    .command('set <name>')
    .description('store a key, such as OPENAI_API_KEY, from a prompt or from stdin')
    .option('--insecure-storage', 'where no keychain works, keep it in a file only you can read')
    .action(async (name: string, options: SecretOptions) => (await deeds()).setSecret(cli, name, options))

  secret
    .command('list')
    .description('list which keys there are and where, never their values')
    .action(async () => (await deeds()).listSecrets(cli))

  secret
    .command('remove <name>')
    .alias('rm')
    .description('remove a stored key')
    .action(async (name: string) => (await deeds()).removeSecret(cli, name))
}

function deeds() {
  return import('./secrets.ts')
}
