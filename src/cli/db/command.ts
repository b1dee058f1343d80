import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'

/** `aichat db …`: the database of this installation. */
export function addDatabaseCommands(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./actions.ts'))
  const db = program.command('db').description('check the database').example('aichat db check')

  db.command('check')
    .description(
      'read all of the database, and verify personas and the sums of usage; exit 1 for problems, 78 for damage',
    )
    .example('aichat db check')
    .action(run((actions) => actions.check))
}
