import { Option } from 'commander'
import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'
import { repeated, unless } from '../terminal/parsers.ts'

/** `aichat limit …`: requests, tokens and money that keys, users, plugins and everybody may use. */
export function addLimitCommands(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./actions.ts'))
  const limit = program
    .command('limit')
    .description('limit requests, tokens and money of API keys, users, plugins, or everybody together')
    .example('aichat limit list', 'aichat limit set user:ada --budget 20/month --rpm 60')

  limit
    .command('list')
    .description('list limits with the state of their budgets: all for administrators, else your own')
    .example('aichat limit list', 'aichat limit list --json')
    .action(run((limits) => limits.list))

  withLimits(
    limit
      .command('set <subject>')
      .description(
        'set limits of key:ID, user:NAME, plugin:ID or all; others that it has stay; requests and tokens are counted in each process, or over all machines of a PostgreSQL; money in all together',
      ),
  )
    .fields({ subject: 'SUBJECT' })
    .example(
      'aichat limit set all --budget 100/month --warn 90',
      'aichat limit set user:ada --rpm 60 --tpm 100000 --budget 2/day --budget 20/month --hard',
      'aichat limit set plugin:openai --parallel 8 --rpd none',
    )
    .action(run((limits) => limits.set))

  limit
    .command('remove <subject...>')
    .alias('rm')
    .description('remove all limits of subjects')
    .example('aichat limit remove user:ada')
    .action(run((limits) => limits.remove))

  limit
    .command('reset <subject>')
    .description('begin the spend of the budgets anew; they still end when their period ends')
    .example('aichat limit reset user:ada')
    .action(run((limits) => limits.reset))
}

/** The options that state limits, in the fields of a request behind this beginning. */
export function withLimits(command: CliCommand, beginning = ''): CliCommand {
  const rate = (flags: string, description: string) => {
    const [, name = ''] = /^--(\w+)/.exec(flags) ?? []
    command.field(flags, description, `${beginning}${name}`, unless('none'))
  }
  rate('--rpm <count>', 'requests a minute; none takes the limit away')
  rate('--rpd <count>', 'requests a day')
  rate('--tpm <count>', 'tokens a minute')
  rate('--tpd <count>', 'tokens a day')
  rate('--parallel <count>', 'requests at the same time')
  return command
    .addOption(
      new Option(
        '--budget <amount>',
        'USD for a day, week or month, such as 20/month; repeatable, in the place of all budgets that there are; none takes them away',
      ).argParser(repeated),
    )
    .field('--timezone <zone>', 'the time zone of the budgets; default the setting usage.timezone')
    .field('--warn <percent>', 'warn from this part of a budget on; default 80')
    .field('--hard', 'cut a streamed answer that runs over a budget')
    .fields({ budgets: '--budget', 'budgets.0.warn': '--warn', 'budgets.0.timezone': '--timezone' })
}
