import { withLimits } from '../limit/command.ts'
import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'
import { none, unless } from '../terminal/parsers.ts'

/** `aichat key …`: API keys for the programs that ask this installation. */
export function addKeyCommands(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./actions.ts'))
  const key = program
    .command('key')
    .description('manage the API keys of programs that ask this installation')
    .example('aichat key create backup-script --model "gpt-4o*"', 'aichat key list')

  withLimits(
    withRights(
      key
        .command('create [name]')
        .description('make an API key; stdout is the key alone, which is shown this once')
        .option('--user <user>', 'for this user, by id, name or email address (for administrators)'),
      'by default chat, embeddings, speech and models; with --persona chat and models',
      'by default all',
    ),
    'limits.',
  )
    .field(
      '--expires <duration>',
      'end it after 90d, 12h …; by default it lasts until it is revoked',
      'expires_in',
      unless('never'),
    )
    .example(
      'aichat key create ci --expires 90d --model "openai:gpt-4o*"',
      'aichat key create bot --scope chat --persona Ada',
      'aichat key create script --budget 5/month --rpm 60 --model gpt-4o-mini',
    )
    .action(run((keys) => keys.create))

  key
    .command('list')
    .description('list your API keys, dead ones too, without their secrets')
    .field('--all', 'those of all users (for administrators)')
    .option('--user <user>', 'those of this user (for administrators)')
    .field('-n, --limit <count>', 'list at most this many, up to 1000')
    .field('--offset <count>', 'skip this many')
    .example('aichat key list', 'aichat key list --all -n 1000')
    .action(run((keys) => keys.list))

  key
    .command('show <key>')
    .description('show an API key: its rights, and when each of its secrets was used last')
    .example('aichat key show 5f0c1c34-7d0c-4a9c-9f5f-0d8f5a0c2f11')
    .action(run((keys) => keys.show))

  withRights(
    key
      .command('update <key>')
      .description('change the name, rights or expiry of an API key; its secret stays')
      .field('--name <name>', 'the new name'),
    'in place of the old ones',
    '"" allows all',
  )
    .field('--expires <duration>', 'end it after 90d, 12h … from now, or never', 'expires_in', unless('never'))
    .example('aichat key update ci --scope chat,models --expires never')
    .action(run((keys) => keys.update))

  key
    .command('revoke <key...>')
    .description('revoke API keys for good and cut their open streams')
    .example('aichat key revoke ci')
    .action(run((keys) => keys.revoke))

  key
    .command('rotate <key>')
    .description('give an API key a new secret, which is all that stdout gets; the old one goes on for a while')
    .field('--overlap <duration>', 'how long the old secret works: 0 to 7d; by default 24h')
    .example('aichat key rotate ci --overlap 1h')
    .action(run((keys) => keys.rotate))
}

/** The options for scopes and lists: separated by commas, or given several times. */
function withRights(command: CliCommand, scopes: string, all: string): CliCommand {
  return command
    .field(
      '--scope <names>',
      `chat, embeddings, speech, models, personas, memory, usage; ${scopes}`,
      'scopes',
      parseList,
    )
    .field('--plugin <ids>', `only these plugins, local for this machine; ${all}`, 'plugins', parseList)
    .field('--model <patterns>', `only these models: gpt-4o*, openai:*, *:llama3:8b; ${all}`, 'models', parseList)
    .field('--persona <names>', `only these personas; ${all}`, 'personas', parseList)
    .fields({ user_id: '--user' })
}

/** Collects the entries of a list; an empty text alone stands for no list. */
function parseList(text: string, before: readonly string[] | typeof none = []): readonly string[] | typeof none {
  const entries = before === none ? [''] : before
  if (text === '' && entries.length === 0) return none
  return [...entries, ...text.split(',').map((part) => part.trim())]
}
