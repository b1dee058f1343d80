import { type Command, Option } from 'commander'
import { textOf } from '../../chat/protocol/messages.ts'
import { type Cli, confirm, parseCount, printJson, show, table } from '../terminal/cli.ts'
import { stripControls } from '../terminal/io.ts'

/** `aichat session …`: saved conversations. */
export function addSessionCommands(program: Command, cli: Cli): void {
  const session = program.command('session').description('look through, rename, export and remove saved conversations')

  session
    .command('list')
    .description('list your conversations, the one spoken in last first')
    .option('-n, --limit <count>', 'how many', parseCount, 20)
    .action(async ({ limit }: { limit: number }) => {
      const listed = await cli.ask((await operations()).listSessions, { limit })
      await show(cli, listed, ({ sessions }) =>
        table(cli, sessions, [
          ['ID', (row) => row.id],
          ['NAME', (row) => row.name],
          ['MESSAGES', (row) => String(row.message_count)],
          ['LAST', (row) => time(row.updated_at)],
        ]),
      )
    })

  session
    .command('show <id>')
    .description('show a conversation, by its id or its name')
    .action(async (id: string) => {
      const shown = await cli.ask((await operations()).showSession, { id })
      await show(cli, shown, ({ messages }) => transcript(messages))
    })

  session
    .command('rename <id> <name>')
    .description('give a conversation another name')
    .action(async (id: string, name: string) => {
      await show(cli, await cli.ask((await operations()).renameSession, { id, name }), (renamed) => renamed.id)
    })

  session
    .command('export <id>')
    .description('write a conversation as Markdown or JSON')
    .addOption(
      new Option('--format <format>', 'what it is written as').choices(['markdown', 'json']).default('markdown'),
    )
    .option('-o, --output <file>', 'write it to a file')
    .option('--force', 'replace the file')
    .action(async (id: string, options: { format: string; output?: string; force?: boolean }) => {
      const shown = await cli.ask((await operations()).showSession, { id })
      const json = options.format === 'json' || cli.globals().json
      const printed = !options.output || options.output === '-'
      if (printed && json) return printJson(cli, shown)
      const text = json ? `${JSON.stringify(shown, null, 2)}\n` : `# ${shown.name}\n\n${transcript(shown.messages)}\n`
      if (printed) return cli.io.out(cli.io.stdoutIsTerminal ? stripControls(text) : text)
      const { writeOutput } = await import('../terminal/files.ts')
      await writeOutput(options.output!, text, options.force === true)
    })

  session
    .command('remove <id...>')
    .alias('rm')
    .description('remove conversations for good')
    .action(async (ids: string[]) => {
      const { removeSession, showSession } = await operations()
      const found = await Promise.all(ids.map((id) => cli.ask(showSession, { id })))
      await confirm(cli, `Remove ${found.map(({ name }) => name).join(', ')}?`)
      const removed: { id: string; removed: true }[] = []
      for (const { id } of found) removed.push(await cli.ask(removeSession, { id }))
      await show(cli, removed.length === 1 ? removed[0] : { sessions: removed }, () =>
        removed.map(({ id }) => id).join('\n'),
      )
    })
}

function operations() {
  return import('../../operations/sessions.ts')
}

function transcript(messages: readonly { readonly role: string; readonly timestamp: number }[]): string {
  return messages
    .map((message) => {
      const content = textOf((message as { content?: string | null }).content)
      return `**${message.role}** (${time(message.timestamp)})\n\n${content}`
    })
    .join('\n\n')
}

function time(timestamp: number): string {
  return new Date(timestamp).toISOString().slice(0, 16).replace('T', ' ')
}
