import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'

/** `aichat audit`: what was done, by whom and from where. */
export function addAuditCommand(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./actions.ts'))
  program
    .command('audit')
    .description('list logins and changes: who did what, when and from where (for administrators)')
    .field('--actor <user>', 'only by this user; "local" for commands on this machine before there were users')
    .field('--action <action>', 'only this action, such as users.create, or those of an area, such as users')
    .field('--since <time>', 'the first day, such as 2026-01-31, or a time such as "last week" or 30d')
    .field('--until <time>', 'the last day, or such a time')
    .field('-n, --limit <count>', 'list at most this many, up to 1000')
    .field('--offset <count>', 'skip this many')
    .example('aichat audit --since 7d', 'aichat audit --actor ada --action users -n 20')
    .action(run((audit) => audit.list))
}
