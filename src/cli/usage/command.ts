import { Option } from 'commander'
import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'

/** `aichat usage …`: requests to models, their tokens and cost. */
export function addUsageCommands(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./actions.ts'))
  const usage = program
    .command('usage')
    .description('show the requests to models and their cost; export, check and prune the ledger')
    .example('aichat usage', 'aichat usage --by model,key --since 7d')

  chooses(usage.command('show', { isDefault: true }))
    .description('sum up requests, tokens and costs (the default of `aichat usage`)')
    .fieldOption(
      new Option('--by <columns>', 'the columns: day, model, key, user, plugin, with commas between').default('day'),
    )
    .option('--csv', 'print CSV')
    .example('aichat usage --by day,model --since 30d', 'aichat usage show --by user --csv')
    .action(run((usage) => usage.show))

  chooses(usage.command('export'))
    .description('write each request with its tokens and its cost')
    .fieldOption(new Option('--format <format>', 'the file format').choices(['csv', 'json']).default('csv'))
    .option('-o, --output <file>', 'write to a file')
    .option('--force', 'replace the file')
    .example('aichat usage export -o usage.csv', 'aichat usage export --format json --since 2026-01-01')
    .action(run((usage) => usage.exportUsage))

  usage
    .command('check')
    .description('compare the ledger with its sums; exit 1 when they differ (for administrators)')
    .example('aichat usage check')
    .action(run((usage) => usage.check))

  usage
    .command('prune')
    .description('remove single requests that are older than they are kept; their sums stay (for administrators)')
    .field('--before <time>', 'the first day to keep, or a time such as 90d')
    .example('aichat usage prune --before 90d')
    .action(run((usage) => usage.prune))
}

/** The options that choose requests. */
function chooses(command: CliCommand): CliCommand {
  return command
    .field('--since <time>', 'the first day, such as 2026-01-31, or a time such as "last week" or 30d, the default')
    .field('--until <time>', 'the last day, or such a time')
    .field('--key <key>', 'only of this API key')
    .field('--user <user>', 'only of this user (for administrators)')
    .field('--model <model>', 'only of this model')
    .field('--plugin <id>', 'only of this plugin')
}
