import type { z } from 'zod'
import { AppError } from '../../errors.ts'
import { searchSessions } from '../../operations/operations.ts'
import { timeForms } from '../../personas/personas.ts'
import type { Cli } from '../terminal/cli.ts'
import { coloured } from '../terminal/colour.ts'
import { fieldsOf } from '../terminal/fields.ts'
import { stripControls } from '../terminal/io.ts'
import { note, print } from '../terminal/output.ts'
import { localTimeFromText } from '../terminal/read-time.ts'
import { timeText } from '../terminal/times.ts'

type Hit = z.output<typeof searchSessions.output>['hits'][number]

/** Prints the messages that hold all words, the last saved first: the session, and the words in their place. */
export async function search(cli: Cli, words: readonly string[], { since: from }: { since?: string }): Promise<void> {
  // The shell has taken the quotes: an argument of several words is words in a row.
  const q = words.map((word) => (/\s/.test(word) && !word.includes('"') ? `"${word}"` : word)).join(' ')
  if (q.trim() === '') throw new AppError('usage', 'Name the words to search for')
  const since = from === undefined ? undefined : localTimeFromText(from)
  if (from !== undefined && since === undefined)
    throw new AppError('usage', `Invalid time "${from.slice(0, 40)}" for --since: use ${timeForms}`)
  const found = await cli.ask(searchSessions, {
    ...fieldsOf(cli, searchSessions),
    q,
    ...(since !== undefined && { since: Math.max(0, since) }),
  })
  const { plain } = cli.globals()
  await print(cli, found, ({ hits }) =>
    (plain ? hits : exchangesOf(hits))
      .map(({ session, role, timestamp, snippet, marks }) => {
        const name = oneLine(session.name)
        if (plain) return `${[session.id, name, timeText(cli, timestamp), role, oneLine(snippet)].join('\t')}\n`
        const head = coloured(cli, 'stdout', 'bold', name)
        return `${head}  ${timeText(cli, timestamp)}  ${role}\n  ${marked(cli, snippet, marks)}\n`
      })
      .join(''),
  )
  if (cli.globals().json || plain) return
  if (found.hits.length === 0) note(cli, 'aichat: no message holds all of these words; word* finds words that begin so')
  else if (found.more) note(cli, `aichat: there are more; -n ${found.hits.length * 2} shows them`)
}

/** The hits without the answers to questions that were found as well: an exchange is listed once. */
function exchangesOf(hits: readonly Hit[]): readonly Hit[] {
  const questions = new Set(
    hits.flatMap(({ role, session, number }) => (role === 'user' ? [`${session.id} ${number}`] : [])),
  )
  return hits.filter(
    ({ role, session, number }) => role !== 'assistant' || !questions.has(`${session.id} ${number - 1}`),
  )
}

/** The snippet with its found words in another style. */
function marked(cli: Cli, snippet: string, marks: readonly (readonly number[])[]): string {
  let text = ''
  let at = 0
  for (const [start = 0, end = 0] of marks) {
    text += oneLine(snippet.slice(at, start)) + coloured(cli, 'stdout', 'yellow', oneLine(snippet.slice(start, end)))
    at = end
  }
  return text + oneLine(snippet.slice(at))
}

function oneLine(text: string): string {
  return stripControls(text).replace(/\s+/g, ' ')
}
