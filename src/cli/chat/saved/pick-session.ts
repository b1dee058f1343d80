import type { z } from 'zod'
import { AppError } from '../../../errors.ts'
import { counted } from '../../../formats/formats.ts'
import { listSessions } from '../../../operations/operations.ts'
import type { Cli } from '../../terminal/cli.ts'
import { type Choice, pick } from '../../terminal/picker.ts'
import { timeText } from '../../terminal/times.ts'

/** Conversations of one request: the latest, and those whose names hold what is typed. */
const most = 100

/** Characters of what is typed that are sent. */
const longestTyped = 1_000

type Row = z.output<typeof listSessions.output>['sessions'][number]

/** Asks which saved conversation is meant, latest first, unless there is only one. Throws `not_found` for none. */
export async function pickSession(cli: Cli, underWay?: string): Promise<string> {
  const choicesOf = (rows: readonly Row[]) =>
    rows.filter(({ id, message_count: count }) => id !== underWay && count > 0).map((row) => choiceOf(cli, row))
  const latest = await cli.ask(listSessions, { limit: most })
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
  const shown = new Set(latest.sessions.map(({ id }) => id))
  return pick(cli, 'Which conversation?', async (typed) => {
    if (typed.trim() === '' || latest.total <= most) return recent
    const { sessions } = await cli.ask(listSessions, { limit: most, name: typed.slice(0, longestTyped) })
    return [...recent, ...choicesOf(sessions.filter(({ id }) => !shown.has(id)))]
  })
}

function choiceOf(cli: Cli, { id, name, message_count: count, updated_at: at }: Row): Choice {
  return { value: id, text: `${name}  ${timeText(cli, at)}, ${counted(count, 'message')}` }
}
