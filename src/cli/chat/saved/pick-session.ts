import type { z } from 'zod'
import { AppError } from '../../../errors.ts'
import { counted } from '../../../formats/formats.ts'
import { listSessions } from '../../../operations/operations.ts'
import type { Cli } from '../../terminal/cli.ts'
import { type Choice, pick } from '../../terminal/picker.ts'
import { timeText } from '../../terminal/times.ts'

/** Conversations of one request. */
const pageSize = 1_000
/** The latest conversations, among which nothing typed looks. */
const firstShown = 100

type Row = z.output<typeof listSessions.output>['sessions'][number]

/**
 * Asks which saved conversation is meant, the latest first and not the one under way, and resolves with its id; the only one
 * is not asked about. Throws `not_found` where there is none.
 */
export async function pickSession(cli: Cli, underWay?: string): Promise<string> {
  const choicesOf = (rows: readonly Row[]) =>
    rows.filter(({ id, message_count: count }) => id !== underWay && count > 0).map((row) => choiceOf(cli, row))
  const latest = await cli.ask(listSessions, { limit: firstShown })
  const recent = choicesOf(latest.sessions)
  const [first] = recent
  if (!first)
    throw new AppError(
      'not_found',
      underWay === undefined
        ? 'No saved conversation found: ask something first'
        : 'No other conversation is saved yet',
    )
  if (recent.length === 1 && latest.total === 1) return first.value
  let whole: Promise<readonly Choice[]> | undefined
  return pick(cli, 'Which conversation?', async (typed) => {
    if (typed.trim() === '' || latest.total <= firstShown) return recent
    whole ??= allSessions(cli).then(choicesOf)
    return whole
  })
}

async function allSessions(cli: Cli): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (;;) {
    const { sessions, total } = await cli.ask(listSessions, { limit: pageSize, offset: rows.length })
    rows.push(...sessions)
    if (sessions.length < pageSize || rows.length >= total) return rows
  }
}

function choiceOf(cli: Cli, { id, name, message_count: count, updated_at: at }: Row): Choice {
  return { value: id, text: `${name}  ${timeText(cli, at)}, ${counted(count, 'message')}` }
}
