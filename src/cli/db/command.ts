import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'

/** `aichat db …`: the database of this installation, and the way between a data folder and PostgreSQL. */
export function addDatabaseCommands(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./actions.ts'))
  const db = program
    .command('db')
    .description('look at the database, check it, and move everything to PostgreSQL or back')
    .example('aichat db status', 'aichat db migrate --to postgres://aichat:PASSWORD@db.example/aichat')

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

  db.command('migrate')
    .description(
      'move everything to an empty PostgreSQL database, or from one to an empty data folder, all or nothing; without a URL, that of DATABASE_URL',
    )
    .option('--to [url]', 'the PostgreSQL database that everything of the data folder goes to')
    .option('--from [url]', 'the PostgreSQL database that everything comes from')
    .option('--keep', 'with --to: copy, and let the data folder stay in use')
    .example(
      'aichat db migrate --to postgres://aichat:PASSWORD@db.example/aichat',
      'aichat db migrate --to',
      'aichat db migrate --from postgres://aichat:PASSWORD@db.example/aichat',
    )
    .action(run((actions) => actions.migrate))
}
