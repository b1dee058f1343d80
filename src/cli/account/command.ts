import type { Command } from 'commander'
import type { Cli } from '../terminal/cli.ts'
import type { LoginOptions, NewcomerOptions } from './run.ts'

/** `aichat setup`, `login`, `logout`, `whoami`, `passwd`, `register` and `auth …`. Passwords are never a flag's value. */
export function addAccountCommands(program: Command, cli: Cli): void {
  program
    .command('setup')
    .description('create the administrator, while there is no user')
    .option('--username <name>', 'the name to log in with')
    .option('--email <address>', 'an address, which also works to log in')
    .option('--password-stdin', 'read the password from stdin')
    .action(async (options: NewcomerOptions) => (await deeds()).setUpAdministrator(cli, options))

  program
    .command('register')
    .description('create an account for oneself')
    .option('--username <name>', 'the name to log in with')
    .option('--email <address>', 'an address, which also works to log in')
    .option('--password-stdin', 'read the password from stdin')
    .action(async (options: NewcomerOptions) => (await deeds()).registerUser(cli, options))

  program
    .command('login [url]')
    .description('log in to a server; commands are then sent there until logout')
    .option('--username <name>', 'the name or address to log in with')
    .option('--password-stdin', 'read the password from stdin')
    .option('--token-stdin', 'read a token from stdin in place of a password')
    .option('--insecure-storage', 'where no keychain works, keep the token in a file only you can read')
    .action(async (url: string | undefined, options: LoginOptions) => (await deeds()).logIn(cli, url, options))

  program
    .command('logout')
    .description('end the login and forget its token')
    .action(async () => (await deeds()).logOut(cli))

  program
    .command('whoami')
    .description('show in whose name commands work')
    .action(async () => (await deeds()).showSelf(cli))

  program
    .command('passwd')
    .description('change the own password; every other login ends')
    .option('--password-stdin', 'read two lines from stdin: the current password and the new one')
    .action(async (options: { passwordStdin?: boolean }) => (await deeds()).changeOwnPassword(cli, options))

  const auth = program.command('auth').description('look at saved logins')

  auth
    .command('status')
    .description('show where commands go, and where each token is kept')
    .action(async () => (await deeds()).showLogins(cli))

  auth
    .command('token')
    .description('print the token, for curl')
    .action(async () => (await deeds()).printToken(cli))
}

/** What the commands do, loaded when one of them runs. */
function deeds() {
  return import('./run.ts')
}
