import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'

/** `aichat db …`: the database of this installation. */
export function addDatabaseCommands(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./actions.ts'))
  const db = program.command('db').description('look at the database, and check it').example('aichat db status')

  db.command('status')
    .description('show the database: its server, schema, size and contents')
    .example('aichat db status', 'aichat db status --json')
    .action(run((actions) => actions.status))

  db.command('check')
    .description(
      'read all of the database, and verify personas and the sums of usage; exit 1 for problems, 78 for damage',
    )
    .example('aichat db check')
    .action(run((actions) => actions.check))
}
