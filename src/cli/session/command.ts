import { Option } from 'commander'
import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'

/** `aichat session …`: saved conversations. */
export function addSessionCommands(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./actions.ts'))
  const session = program
    .command('session')
    .description('list, search, show, rename, export and remove saved conversations')
    .example('aichat session list', 'aichat session search visa lisbon', 'aichat session show Trip')

  session
    .command('list')
    .description('list your conversations, latest first')
    .fieldOption(new Option('-n, --limit <count>', 'list at most this many').default(20))
    .example('aichat session list -n 5')
    .action(run((sessions) => sessions.list))

  session.command('choose', { hidden: true }).action(run((sessions) => sessions.choose))

  session
    .command('show [id]')
    .description('show a conversation, by its id or its name; without one the latest')
    .example('aichat session show', 'aichat session show Trip')
    .action(run((sessions) => sessions.show))

  session
    .command('search <words...>')
    .description(
      'find messages that hold all of the words; "two words" are words in a row, word* is the beginning of one',
    )
    .fieldOption(new Option('-n, --limit <count>', 'find at most this many').default(20))
    .option(
      '--since <time>',
      'only in messages since this day, such as 2026-01-31, or a time such as "last week" or 7d',
    )
    .example(
      'aichat session search cello --since "last week"',
      'aichat session search "night train" lisb* --since 2026-11-01',
    )
    .action(run((sessions) => sessions.search))

  session
    .command('undo <id>')
    .description('take the last question of a conversation back, with its answer and the memories that it added')
    .example('aichat session undo Trip')
    .action(run((sessions) => sessions.undo))

  session
    .command('compact <id>')
    .description('have a model summarise the earlier messages, which then stand for them when it goes on')
    .field('-m, --model <model>', 'the model of the summary; by default the one that answered last')
    .field('--turns <count>', 'the questions at the end that stay as they are, with their answers (2)')
    .field('--undo', 'go on with the original messages again')
    .example('aichat session compact Trip', 'aichat session compact Trip --undo')
    .action(run((sessions) => sessions.compact))

  session
    .command('rename <id> <name>')
    .description('rename a conversation')
    .example('aichat session rename Trip "Trip to Rome"')
    .action(run((sessions) => sessions.rename))

  session
    .command('export <id>')
    .description('write a conversation as Markdown or JSON')
    .addOption(new Option('--format <format>', 'the file format').choices(['markdown', 'json']).default('markdown'))
    .option('-o, --output <file>', 'write to a file')
    .option('--force', 'replace the file')
    .example('aichat session export Trip -o trip.md', 'aichat session export Trip --format json')
    .action(run((sessions) => sessions.exportSession))

  session
    .command('remove [id...]')
    .alias('rm')
    .description('remove conversations for good')
    .option('--older-than <age>', 'remove those that were last used before, such as 30d')
    .option('--all', 'remove all')
    .example('aichat session remove Trip', 'aichat session remove --older-than 30d')
    .action(run((sessions) => sessions.remove))
}
