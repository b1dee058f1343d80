import { textOf } from '../../chat/protocol/messages.ts'
import { counted } from '../../formats/counted.ts'
import { endSession, listSessions, removeSession, renameSession, showSession } from '../../operations/sessions.ts'
import { printAnswer } from '../markdown/printer.ts'
import type { Cli } from '../terminal/cli.ts'
import { writeOutput } from '../terminal/files.ts'
import { stripControls } from '../terminal/io.ts'
import { note, print, printJson, printRemoved } from '../terminal/output.ts'
import { confirm } from '../terminal/prompts.ts'
import { table, timeText } from '../terminal/table.ts'

export async function list(cli: Cli, { limit }: { limit: number }): Promise<void> {
  await print(cli, await cli.ask(listSessions, { limit }), ({ sessions }) =>
    table(
      cli,
      sessions,
      [
        ['ID', (row) => row.id],
        ['NAME', (row) => row.name],
        ['MESSAGES', (row) => String(row.message_count)],
        ['LAST', (row) => timeText(row.updated_at)],
        ['SUMMARY', (row) => row.summary ?? ''],
      ],
      'no conversations yet; start one: aichat chat',
    ),
  )
}

export async function show(cli: Cli, id: string): Promise<void> {
  const session = await cli.ask(showSession, { id })
  if (cli.globals().json) return printJson(cli, session)
  const { summary, messages, cost } = session
  await printAnswer(cli, [...(summary === undefined ? [] : [`*${summary}*`]), transcript(messages)].join('\n\n'))
  if (!cost) return
  const unknown = cost.unpriced > 0 ? `, and ${counted(cost.unpriced, 'answer')} of unknown cost` : ''
  note(cli, `aichat: $${cost.cost_usd}${unknown}`)
}

export async function rename(cli: Cli, id: string, name: string): Promise<void> {
  await print(cli, await cli.ask(renameSession, { id, name }), (renamed) => renamed.id)
}

export async function end(cli: Cli, ids: readonly string[]): Promise<void> {
  const sessions: { readonly id: string; readonly summary?: string }[] = []
  for (const id of ids) sessions.push(await cli.ask(endSession, { id }))
  await print(cli, sessions.length === 1 ? sessions[0] : { sessions }, () =>
    sessions.map(({ id, summary }) => summary ?? id).join('\n'),
  )
}

export async function exportSession(
  cli: Cli,
  id: string,
  { format, output, force }: { format: string; output?: string; force?: boolean },
): Promise<void> {
  const session = await cli.ask(showSession, { id })
  const json = format === 'json' || cli.globals().json
  const toStdout = !output || output === '-'
  if (toStdout && json) return printJson(cli, session)
  const text = json ? `${JSON.stringify(session, null, 2)}\n` : `# ${session.name}\n\n${transcript(session.messages)}\n`
  if (toStdout) return cli.io.out(cli.io.stdoutIsTerminal ? stripControls(text) : text)
  await writeOutput(output, text, force === true)
}

export async function remove(cli: Cli, ids: readonly string[]): Promise<void> {
  const found = await Promise.all(ids.map((id) => cli.ask(showSession, { id })))
  await confirm(cli, `Remove ${found.map(({ name }) => name).join(', ')}?`)
  const removed: { id: string; removed: true }[] = []
  for (const { id } of found) removed.push(await cli.ask(removeSession, { id }))
  await printRemoved(cli, 'sessions', removed)
}

function transcript(messages: readonly { readonly role: string; readonly timestamp: number }[]): string {
  return messages
    .map((message) => {
      const content = textOf((message as { content?: string | null }).content)
      return `**${message.role}** (${timeText(message.timestamp)})\n\n${content}`
    })
    .join('\n\n')
}
