import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'

/** `aichat login`, `logout`, `whoami`, `passwd`, `register` and `auth …`. No option takes a password. */
export function addAccountCommands(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./actions.ts'))

  program
    .command('register')
    .description('create your own account')
    .option('--username <name>', 'the name to log in with')
    .field('--email <address>', 'an email address, which also works to log in')
    .option('--password-stdin', 'read the password from stdin')
    .example('aichat --server http://127.0.0.1:3001 register --username ada')
    .action(run((account) => account.registerUser))

  program
    .command('login [url]')
    .description('log in to a server and send later commands there, until logout')
    .option('--username <name>', 'the name or email address to log in with')
    .option('--password-stdin', 'read the password from stdin')
    .option('--token-stdin', 'read a token from stdin instead of a password')
    .option('--insecure-storage', 'without a keychain, keep the token in a file that only you can read')
    .example('aichat login http://127.0.0.1:3001', 'aichat login https://chat.example --username ada')
    .action(run((account) => account.logIn))

  program
    .command('logout')
    .description('end the login and delete its token')
    .example('aichat logout')
    .action(run((account) => account.logOut))

  program
    .command('whoami')
    .description('show the user that commands act as')
    .example('aichat whoami')
    .action(run((account) => account.showSelf))

  program
    .command('passwd')
    .description('change your password and end your other logins')
    .option('--password-stdin', 'read two lines from stdin: the current password and the new one')
    .field('--revoke-keys', 'revoke your API keys, too')
    .example('aichat passwd', 'aichat passwd --password-stdin < passwords.txt')
    .action(run((account) => account.changeOwnPassword))

  const auth = program.command('auth').description('show saved logins').example('aichat auth status')

  auth
    .command('status')
    .description('show the server in use and where each token is kept')
    .example('aichat auth status')
    .action(run((account) => account.showLogins))

  auth
    .command('token')
    .description('print the token, for use with curl')
    .example('curl -H "Authorization: Bearer $(aichat auth token)" http://127.0.0.1:3001/api/auth/me')
    .action(run((account) => account.printToken))
}
