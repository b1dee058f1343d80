import type { z } from 'zod'
import { AppError } from '../../errors.ts'
import { counted } from '../../formats/formats.ts'
import {
  compactSession,
  listSessions,
  removeSession,
  removeSessions,
  renameSession,
  showSession,
  undoSession,
} from '../../operations/operations.ts'
import { parseLifetime } from '../../settings/settings.ts'
import { compactionText, printSession, transcript } from '../chat/saved/transcript.ts'
import type { Cli } from '../terminal/cli.ts'
import { fieldsOf } from '../terminal/fields.ts'
import { writeOutput } from '../terminal/files.ts'
import { stripControls } from '../terminal/io.ts'
import { note, print, printJson, printRemoved } from '../terminal/output.ts'
import { confirm } from '../terminal/prompts.ts'
import { listing } from '../terminal/table.ts'
import { timeText } from '../terminal/times.ts'

export { search } from './search.ts'

type Row = z.output<typeof listSessions.output>['sessions'][number]

/** The most that one request lists. */
const mostAtOnce = 1_000

export async function list(cli: Cli): Promise<void> {
  const found = await cli.ask(listSessions, fieldsOf(cli, listSessions))
  await print(cli, found, ({ sessions }) =>
    listing(cli, sessions, 'no conversations yet; start one: aichat chat', [
      // A name is as good as an id, and shorter: scripts read the id.
      ...(cli.globals().plain ? [['ID', (row: Row) => row.id] as const] : []),
      ['NAME', (row) => row.name],
      ['MESSAGES', (row) => String(row.message_count)],
      ['LAST', (row) => timeText(cli, row.updated_at)],
    ]),
  )
  const more = found.total - found.sessions.length
  if (more > 0 && !cli.globals().json)
    note(cli, `aichat: and ${more} more; -n ${Math.min(found.total, mostAtOnce)} shows them`)
}

/** Goes on with the conversation that the user picks. */
export async function choose(cli: Cli): Promise<void> {
  const { pickSession } = await import('../chat/saved/pick-session.ts')
  const { runChat } = await import('../chat/actions.ts')
  const session = await pickSession(cli)
  await runChat(cli, [], { session, log: true, memory: true, stream: true, fallback: true })
}

export async function show(cli: Cli, named: string | undefined): Promise<void> {
  const id = named ?? (await cli.ask(listSessions, { limit: 1 })).sessions[0]?.id
  if (id === undefined) throw new AppError('not_found', 'No conversation is saved yet: ask something first')
  const session = await cli.ask(showSession, { id })
  if (cli.globals().json) return printJson(cli, session)
  const { cost } = session
  await printSession(cli, session)
  if (!cost) return
  const unknown = cost.unpriced > 0 ? `, and ${counted(cost.unpriced, 'answer')} of unknown cost` : ''
  note(cli, `aichat: $${cost.cost_usd}${unknown}`)
}

export async function rename(cli: Cli, id: string, name: string): Promise<void> {
  await print(cli, await cli.ask(renameSession, { id, name }), (renamed) => renamed.id)
}

export async function exportSession(
  cli: Cli,
  id: string,
  { format, output, force }: { format: string; output?: string; force?: boolean },
): Promise<void> {
  const session = await cli.ask(showSession, { id, files: true })
  const json = format === 'json' || cli.globals().json
  const toStdout = !output || output === '-'
  if (toStdout && json) return printJson(cli, session)
  const text = json ? `${JSON.stringify(session, null, 2)}\n` : `# ${session.name}\n\n${transcript(session.messages)}\n`
  if (toStdout) return cli.io.out(cli.io.stdoutIsTerminal ? stripControls(text) : text)
  await writeOutput(output, text, force === true)
}

export async function undo(cli: Cli, id: string): Promise<void> {
  const { name, taken } = await cli.ask(undoSession, { id })
  await print(cli, { name, taken }, () => '')
  note(cli, `aichat: took ${counted(taken.length, 'message')} back from "${name}"`)
}

export async function compact(cli: Cli, id: string): Promise<void> {
  const done = await cli.ask(compactSession, { ...fieldsOf(cli, compactSession), id })
  await print(cli, done, ({ summary }) => summary ?? '')
  note(cli, compactionText(done))
}

/** The options of `remove` that name sessions by their age. */
interface RemoveOptions {
  readonly olderThan?: string
  readonly all?: boolean
}

export async function remove(cli: Cli, ids: readonly string[], { olderThan, all }: RemoveOptions = {}): Promise<void> {
  const ways = [ids.length > 0, olderThan !== undefined, all === true].filter(Boolean).length
  if (ways !== 1) throw new AppError('usage', 'Name the conversations to remove, or give --older-than or --all')
  if (ids.length === 0) return removeMany(cli, olderThan)
  const found = await Promise.all(ids.map((id) => cli.ask(showSession, { id, brief: true })))
  await confirm(cli, `Remove ${found.map(({ name }) => name).join(', ')}?`)
  const removed: { id: string; removed: true }[] = []
  for (const { id } of found) removed.push(await cli.ask(removeSession, { id }))
  await printRemoved(cli, 'sessions', removed)
}

async function removeMany(cli: Cli, olderThan: string | undefined): Promise<void> {
  const age = olderThan === undefined ? undefined : parseLifetime(olderThan)
  if (olderThan !== undefined && age === undefined)
    throw new AppError('usage', `Invalid age "${olderThan}": use 30d, 12h or 8w`)
  await confirm(
    cli,
    age === undefined
      ? 'Remove all conversations?'
      : `Remove all conversations that were last used over ${olderThan} ago?`,
  )
  const removed = await cli.ask(removeSessions, age === undefined ? { all: true } : { before: Date.now() - age * 1000 })
  await print(cli, removed, () => '')
  note(cli, `aichat: removed ${counted(removed.removed, 'conversation')}`)
}
