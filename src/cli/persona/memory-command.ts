import type { Command } from 'commander'
import { AppError } from '../../errors.ts'
import {
  askTerminal,
  type Cli,
  confirm,
  mayAsk,
  note,
  parseCount,
  parseNumber,
  parseTime,
  show,
  table,
} from '../terminal/cli.ts'
import { readStdin } from '../terminal/stdin.ts'

interface AddOptions {
  readonly importance?: number
  readonly category?: string
  readonly pin?: boolean
  /** Milliseconds since 1970 UTC. */
  readonly time?: number
}

/** Removed memories that are named one by one; where more had to go, their number says more. */
const mostNotes = 5

/** `aichat persona memory …`: what a persona remembers of you. */
export function addPersonaMemoryCommands(persona: Command, cli: Cli): void {
  const memory = persona.command('memory').description('add to, look through and wipe what a persona remembers')

  memory
    .command('add <id> [text...]')
    .description('store a memory: the text, or stdin with -')
    .option('--importance <number>', 'how much it matters, from 0 to 1', parseNumber)
    .option('--category <name>', 'what it belongs to; memories can be listed and wiped by it')
    .option('--pin', 'never remove it by itself')
    .option('--time <when>', 'when it was said, such as 2024-05-08T17:30, where that is not now', parseTime)
    .action(async (id: string, words: string[], options: AddOptions) => {
      const added = await cli.ask((await operations()).addMemory, {
        id,
        content: await contentOf(cli, words.join(' ')),
        ...(options.importance !== undefined && { importance_score: options.importance }),
        ...(options.time !== undefined && { timestamp: options.time }),
        metadata: {
          ...(options.category !== undefined && { category: options.category }),
          ...(options.pin && { pinned: true }),
        },
      })
      await show(cli, added, (entry) => entry.id)
      if (added.embedding_status === 'pending')
        note(cli, `aichat: ${added.embedding_model} does not answer; the memory is found by its words until it does`)
      for (const { memory_id, reason } of added.evicted.slice(0, mostNotes))
        note(cli, `aichat: the memory ${memory_id} was removed (${reason})`)
      if (added.evicted.length > mostNotes) note(cli, `aichat: so were ${added.evicted.length - mostNotes} more`)
    })

  memory
    .command('list <id>')
    .description('list memories, newest first')
    .option('--category <name>', 'only those of a category')
    .option('-n, --limit <count>', 'how many', parseCount, 20)
    .option('--offset <count>', 'how many to pass over', parseNumber, 0)
    .action(async (id: string, options: { category?: string; limit: number; offset: number }) => {
      const listed = await cli.ask((await operations()).listMemories, { id, ...options })
      await show(cli, listed, ({ memories }) =>
        table(cli, memories, [
          ['ID', (row) => row.id],
          ['TIME', (row) => time(row.timestamp)],
          ['WEIGHT', (row) => String(row.importance_score)],
          [
            'CATEGORY',
            (row) => `${row.metadata['category'] ?? ''}${row.metadata['pinned'] === true ? ' (pinned)' : ''}`,
          ],
          ['CONTENT', (row) => row.content],
        ]),
      )
      if (listed.total > listed.memories.length)
        note(cli, `aichat: ${listed.memories.length} of ${listed.total}; see --limit and --offset`)
    })

  memory
    .command('search <id> <query...>')
    .description('find memories by words and by meaning')
    .option('-n, --limit <count>', 'how many', parseCount, 10)
    .option('--min-score <number>', 'leave out what scores less', parseNumber)
    .action(async (id: string, words: string[], options: { limit: number; minScore?: number }) => {
      const { limit, minScore } = options
      const found = await cli.ask((await operations()).searchMemories, {
        id,
        query: words.join(' '),
        limit,
        ...(minScore !== undefined && { min_score: minScore }),
      })
      await show(cli, found, ({ results }) =>
        table(cli, results, [
          ['SCORE', (row) => row.score.toFixed(3)],
          ['WORDS', (row) => row.parts.lexical.toFixed(2)],
          ['MEANING', (row) => row.parts.vector.toFixed(2)],
          ['TIME', (row) => time(row.timestamp)],
          ['CONTENT', (row) => row.content],
        ]),
      )
      if (found.mode === 'lexical' && found.results.length > 0)
        note(cli, `aichat: found by words only; ${found.embedding_model} does not answer`)
    })

  memory
    .command('wipe <id>')
    .description('wipe memories for good: all of them, or those of categories')
    .option('--category <name...>', 'only those of these categories; "" for those without one')
    .option('--before <date>', 'only those older than this, such as 2026-01-31', parseTime)
    .action(async (id: string, options: { category?: string[]; before?: number }) => {
      const { wipeMemories } = await operations()
      const { before } = options
      const categories = options.category ?? (await chosenCategories(cli, id))
      const what = categories
        ? `the memories of ${categories.map((name) => name || '(none)').join(', ')}`
        : 'all memories'
      await confirm(cli, `Wipe ${what} of ${id} for good?`)
      let deleted = 0
      for (const category of categories ?? [undefined]) {
        const filter = { ...(category !== undefined && { category }), ...(before !== undefined && { before }) }
        deleted += (await cli.ask(wipeMemories, { id, ...filter })).deleted
      }
      await show(cli, { deleted }, () => `${deleted} wiped`)
    })
}

function operations() {
  return import('../../operations/memories.ts')
}

async function contentOf(cli: Cli, text: string): Promise<string> {
  if (text !== '-' && text !== '') return text
  if (text === '' && !cli.io.stdinIsGiven())
    throw new AppError('usage', 'There is nothing to remember: give a text, or - to read stdin')
  return (await readStdin(cli)).toString('utf8').trim()
}

/** On a terminal one ticks what goes; undefined stands for everything. */
async function chosenCategories(cli: Cli, id: string): Promise<string[] | undefined> {
  if (cli.globals().yes || !(await mayAsk(cli))) return undefined
  const { categories } = await cli.ask((await operations()).listCategories, { id })
  if (categories.length < 2) return undefined
  const choices = categories.map(({ category, count }) => ({
    name: `${category || '(no category)'}: ${count}`,
    value: category,
    checked: true,
  }))
  const chosen = await askTerminal<string[]>(cli, { type: 'checkbox', message: 'Which categories go?', choices })
  if (chosen.length === 0) throw new AppError('found', 'Nothing was changed')
  return chosen.length === categories.length ? undefined : chosen
}

function time(timestamp: number): string {
  return new Date(timestamp).toISOString().slice(0, 16).replace('T', ' ')
}
