import { Option } from 'commander'
import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'

/** `aichat users …`. A user is named by id, username or email address. */
export function addUserCommands(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./actions.ts'))
  const users = program
    .command('users')
    .description('manage the users (for administrators)')
    .example('aichat users list', 'aichat users create grace --role user')

  users
    .command('list')
    .description('list the users')
    .field('-n, --limit <count>', 'list at most this many, up to 200')
    .field('--offset <count>', 'skip this many')
    .field('--search <text>', 'only users whose name or email address contains the text', 'q')
    .example('aichat users list', 'aichat users list --search example.org -n 10')
    .action(run((user) => user.list))

  users
    .command('show <user>')
    .description('show a user')
    .example('aichat users show ada')
    .action(run((user) => user.show))

  users
    .command('create <username>')
    .description('create a user; the first one is always an administrator')
    .field('--email <address>', 'an email address, which also works to log in')
    .fieldOption(new Option('--role <role>', 'the role of the user').choices(['user', 'admin']))
    .option('--password-stdin', 'read the password from stdin')
    .example('aichat users create grace --email grace@example.org', 'aichat users create root --role admin')
    .action(run((user) => user.create))

  users
    .command('update <user>')
    .description("change a user's name, email address or role")
    .field('--username <name>', 'the new name')
    .field('--email <address>', 'the new email address; an empty one removes it')
    .fieldOption(new Option('--role <role>', 'the new role; ends the logins of the user').choices(['user', 'admin']))
    .example('aichat users update grace --role admin', 'aichat users update grace --email ""')
    .action(run((user) => user.update))

  users
    .command('remove <user...>')
    .alias('rm')
    .description('remove users and all their data')
    .example('aichat users remove grace')
    .action(run((user) => user.remove))

  users
    .command('reset-password <user>')
    .description('set or generate a new password for a user and end the logins of the user')
    .option('--password-stdin', 'read the password from stdin instead of printing a random one')
    .field('--revoke-keys', 'revoke the API keys of the user, too')
    .example('aichat users reset-password grace')
    .action(run((user) => user.resetPassword))

  users
    .command('stats')
    .description('count users and logins')
    .example('aichat users stats')
    .action(run((user) => user.countAll))
}
