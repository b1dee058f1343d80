import { AppError } from '../../errors.ts'
import { addMemory, listCategories, listMemories, searchMemories, wipeMemories } from '../../operations/memories.ts'
import type { Cli } from '../terminal/cli.ts'
import { note, print } from '../terminal/output.ts'
import { given } from '../terminal/parsers.ts'
import { askTerminal, canAsk, confirm } from '../terminal/prompts.ts'
import { emptyInput, readStdin } from '../terminal/stdin.ts'
import { table, timeText } from '../terminal/table.ts'

/** The most evicted memories that are named one by one; further ones are counted. */
const mostNotes = 5

export async function add(
  cli: Cli,
  id: string,
  words: readonly string[],
  options: { importance?: number; category?: string; pin?: boolean; time?: number },
): Promise<void> {
  const { importance, category, pin, time } = options
  const added = await cli.ask(addMemory, {
    id,
    content: await contentOf(cli, words.join(' ')),
    ...given({ importance_score: importance, timestamp: time }),
    metadata: given({ category, pinned: pin }),
  })
  await print(cli, added, (entry) => entry.id)
  if (added.embedding_status === 'pending')
    note(cli, `aichat: ${added.embedding_model} does not answer; until it does, the memory is found by its words only`)
  for (const { memory_id, reason } of added.evicted.slice(0, mostNotes))
    note(cli, `aichat: the memory ${memory_id} was removed (${reason})`)
  if (added.evicted.length > mostNotes) note(cli, `aichat: and ${added.evicted.length - mostNotes} more`)
}

export async function list(
  cli: Cli,
  id: string,
  options: { category?: string; limit: number; offset: number },
): Promise<void> {
  const found = await cli.ask(listMemories, { id, ...options })
  await print(cli, found, ({ memories }) =>
    table(
      cli,
      memories,
      [
        ['ID', (row) => row.id],
        ['TIME', (row) => timeText(row.timestamp)],
        ['WEIGHT', (row) => String(row.importance_score)],
        ['CATEGORY', (row) => `${row.metadata['category'] ?? ''}${row.metadata['pinned'] === true ? ' (pinned)' : ''}`],
        ['CONTENT', (row) => row.content],
      ],
      options.category === undefined
        ? `no memories yet; add one: aichat persona memory add ${id} TEXT`
        : 'no memories of that category',
    ),
  )
  if (found.total > found.memories.length)
    note(cli, `aichat: ${found.memories.length} of ${found.total}; see --limit and --offset`)
}

export async function search(
  cli: Cli,
  id: string,
  words: readonly string[],
  { limit, minScore }: { limit: number; minScore?: number },
): Promise<void> {
  const query = words.join(' ')
  const found = await cli.ask(searchMemories, { id, query, limit, ...given({ min_score: minScore }) })
  await print(cli, found, ({ results }) =>
    table(
      cli,
      results,
      [
        ['SCORE', (row) => row.score.toFixed(3)],
        ['WORDS', (row) => row.parts.lexical.toFixed(2)],
        ['MEANING', (row) => row.parts.vector.toFixed(2)],
        ['TIME', (row) => timeText(row.timestamp)],
        ['CONTENT', (row) => row.content],
      ],
      'no memory matches',
    ),
  )
  if (found.mode === 'lexical' && found.results.length > 0)
    note(cli, `aichat: found by words only; ${found.embedding_model} does not answer`)
}

export async function wipe(
  cli: Cli,
  id: string,
  { category, before }: { category?: readonly string[]; before?: number },
): Promise<void> {
  const categories = category ?? (await chosenCategories(cli, id))
  const memories = categories
    ? `the memories of ${categories.map((name) => name || '(none)').join(', ')}`
    : 'all memories'
  await confirm(cli, `Wipe ${memories} of ${id} for good?`)
  let deleted = 0
  for (const category of categories ?? [undefined])
    deleted += (await cli.ask(wipeMemories, { id, ...given({ category, before }) })).deleted
  await print(cli, { deleted }, () => `${deleted} wiped`)
}

async function contentOf(cli: Cli, text: string): Promise<string> {
  if (text !== '-' && text !== '') return text
  if (text === '' && !cli.io.stdinIsPiped())
    throw new AppError('usage', 'Nothing to remember: give a text, or - to read stdin')
  const piped = (await readStdin(cli)).toString('utf8').trim()
  if (piped === '') throw emptyInput('remember')
  return piped
}

/** Asks on a terminal which categories to wipe; undefined stands for all memories. */
async function chosenCategories(cli: Cli, id: string): Promise<readonly string[] | undefined> {
  if (cli.globals().yes || !(await canAsk(cli))) return undefined
  const { categories } = await cli.ask(listCategories, { id })
  if (categories.length < 2) return undefined
  const choices = categories.map(({ category, count }) => ({
    name: `${category || '(no category)'}: ${count}`,
    value: category,
    checked: true,
  }))
  const chosen = await askTerminal<string[]>(cli, { type: 'checkbox', message: 'Which categories?', choices })
  if (chosen.length === 0) throw new AppError('found', 'Nothing was changed')
  return chosen.length === categories.length ? undefined : chosen
}
