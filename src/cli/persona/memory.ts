import { AppError } from '../../errors.ts'
import { counted } from '../../formats/formats.ts'
import {
  addMemory,
  editMemory,
  forgetMemories,
  listCategories,
  listEvictions,
  listMemories,
  removeMemory,
  searchMemories,
  showMemory,
  wipeMemories,
} from '../../operations/operations.ts'
import { timeForms } from '../../personas/personas.ts'
import type { Cli } from '../terminal/cli.ts'
import { editText } from '../terminal/editor.ts'
import { fieldsOf } from '../terminal/fields.ts'
import { note, print } from '../terminal/output.ts'
import { given } from '../terminal/parsers.ts'
import { askTerminal, canAsk, confirm } from '../terminal/prompts.ts'
import { localTimeFromText } from '../terminal/read-time.ts'
import { emptyInput, readStdinText } from '../terminal/stdin.ts'
import { labelled, listing } from '../terminal/table.ts'
import { momentText, timeText } from '../terminal/times.ts'

/** The most evicted memories that are named one by one; further ones are counted. */
const mostNotes = 5

/** Adds a memory from words or standard input; notes evictions on stderr. */
export async function add(cli: Cli, id: string, words: readonly string[]): Promise<void> {
  const content = await contentOf(cli, words.join(' '))
  const added = await cli.ask(addMemory, { ...fieldsOf(cli, addMemory), id, content })
  await print(cli, added, (entry) => entry.id)
  if (added.embedding_status === 'pending')
    note(cli, `aichat: ${added.embedding_model} does not answer; until it does, the memory is found by its words only`)
  for (const { memory_id, reason } of added.evicted.slice(0, mostNotes))
    note(cli, `aichat: the memory ${memory_id} was removed (${reason})`)
  if (added.evicted.length > mostNotes) note(cli, `aichat: and ${added.evicted.length - mostNotes} more`)
}

/** Prints a memory with its labels. */
export async function show(cli: Cli, id: string, beginning: string): Promise<void> {
  const found = await cli.ask(showMemory, { id, memory_id: await memoryIdOf(cli, id, beginning) })
  const { category, pinned, speaker, conversation, valid_from, valid_to, ...others } = found.metadata
  const text = (value: unknown) => (value === undefined ? undefined : String(value))
  const when = (value: unknown) => (typeof value === 'number' ? momentText(cli, value) : text(value))
  await print(cli, found, () =>
    [
      labelled([
        ['id', found.id],
        ['time', momentText(cli, found.timestamp)],
        ['importance', String(found.importance_score)],
        ['category', text(category)],
        ['pinned', pinned === true ? 'yes' : undefined],
        ['speaker', text(speaker)],
        ['conversation', text(conversation)],
        ['valid from', when(valid_from)],
        ['valid to', when(valid_to)],
        ...Object.entries(others).map(([name, value]) => [name, JSON.stringify(value)] as const),
        ['embedding', `${found.embedding_model} (${found.embedding_status})`],
      ]),
      found.content,
    ].join('\n\n'),
  )
}

/** Changes the text and labels of a memory; null removes a label. */
export async function edit(cli: Cli, id: string, beginning: string): Promise<void> {
  const fields = fieldsOf(cli, editMemory)
  const memory_id = await memoryIdOf(cli, id, beginning)
  if (Object.keys(fields).length === 0) fields.content = await editedContent(cli, id, memory_id)
  else if (fields.content === '-') fields.content = (await readStdinText(cli)).trim()
  const edited = await cli.ask(editMemory, { ...fields, id, memory_id })
  await print(cli, edited, (entry) => entry.id)
}

/** Pins memories, so that none of them is evicted. */
export function pin(cli: Cli, id: string, beginnings: readonly string[]): Promise<void> {
  return setPinned(cli, id, beginnings, true)
}

/** Unpins memories. */
export function unpin(cli: Cli, id: string, beginnings: readonly string[]): Promise<void> {
  return setPinned(cli, id, beginnings, null)
}

/** Sets the label, or with null removes it. */
async function setPinned(cli: Cli, id: string, beginnings: readonly string[], pinned: true | null): Promise<void> {
  const memories: { readonly id: string }[] = []
  for (const memory_id of await memoryIdsOf(cli, id, beginnings))
    memories.push(await cli.ask(editMemory, { id, memory_id, metadata: { pinned } }))
  await print(cli, memories.length === 1 ? memories[0] : { memories }, () => memories.map((one) => one.id).join('\n'))
}

/** Removes memories for good, after a confirmation. */
export async function remove(cli: Cli, id: string, beginnings: readonly string[]): Promise<void> {
  const ids = await memoryIdsOf(cli, id, beginnings)
  await confirm(
    cli,
    `Remove ${ids.length === 1 ? `the memory ${ids[0]}` : `${ids.length} memories`} of ${id} for good?`,
  )
  const answers: Removal[] = []
  for (const memory_id of ids) answers.push(await cli.ask(removeMemory, { id, memory_id }))
  const removal = summed(answers)
  await print(cli, removal, () => ids.join('\n'))
  tellOf(cli, removal)
}

/** Names what a wish to forget means, and removes it for good after a yes. Throws `found` where it means nothing. */
export async function forget(cli: Cli, id: string, words: readonly string[]): Promise<void> {
  const text = words.join(' ')
  const { memories, lines } = await cli.ask(forgetMemories, { id, text })
  const named = [...memories.map(({ content }) => content), ...lines.map((line) => `${line.text} (profile)`)]
  if (named.length === 0) throw new AppError('found', 'No memory matches what is to be forgotten')
  for (const one of named) note(cli, `aichat: ${one.slice(0, longestNamed)}`)
  await confirm(cli, `Forget ${named.length === 1 ? 'this' : `these ${named.length}`} for good?`)
  const done = await cli.ask(forgetMemories, { id, text, confirm: true })
  await print(cli, done, ({ deleted }) => `${deleted} forgotten`)
  tellOf(cli, done)
}

/** Characters of a memory that is named. */
const longestNamed = 200

/** What a removal says beside its number. */
interface Removal {
  readonly deleted: number
  readonly backups?: { readonly rewritten: number; readonly removed: number }
  readonly may_remain_in?: readonly string[]
}

/** Several removals as one, in the shape of the last one's answer: it looked at the places last. */
function summed(answers: readonly Removal[]): Removal {
  const backups = { rewritten: 0, removed: 0 }
  let deleted = 0
  let places: readonly string[] | undefined
  for (const answer of answers) {
    deleted += answer.deleted
    // Each removal writes the same backups again.
    backups.rewritten = Math.max(backups.rewritten, answer.backups?.rewritten ?? 0)
    backups.removed += answer.backups?.removed ?? 0
    places = answer.may_remain_in ?? places
  }
  const isChanged = backups.rewritten + backups.removed > 0
  return { deleted, ...(isChanged && { backups }), ...(places && { may_remain_in: places }) }
}

/** Says on stderr what became of the backups, and where the words may still be. */
function tellOf(cli: Cli, { backups, may_remain_in: places }: Removal): void {
  if (backups && backups.rewritten > 0)
    note(cli, `aichat: ${counted(backups.rewritten, 'backup')} of the persona written again without it`)
  if (backups && backups.removed > 0)
    note(cli, `aichat: ${counted(backups.removed, 'backup')} of the persona could not be read, and removed`)
  if (places) note(cli, `aichat: the words may remain in: ${places.join(', ')}`)
}

/** The ids that are named by their beginnings, each once; none is changed before all are known. */
async function memoryIdsOf(cli: Cli, id: string, beginnings: readonly string[]): Promise<readonly string[]> {
  const ids: string[] = []
  for (const beginning of beginnings) ids.push(await memoryIdOf(cli, id, beginning))
  return [...new Set(ids)]
}

/** The one memory id that begins so. Throws `not_found`, and `usage` where several do. */
async function memoryIdOf(cli: Cli, id: string, beginning: string): Promise<string> {
  if (beginning.trim() === '') throw new AppError('usage', 'Invalid memory id: it is empty')
  const { memories, total } = await cli.ask(listMemories, { id, id_prefix: beginning, limit: mostCandidates })
  if (memories.some((one) => one.id === beginning)) return beginning
  if (memories.length === 1) return memories[0]!.id
  if (memories.length === 0)
    throw new AppError('not_found', `Memory "${beginning}" not found`, {
      details: [`\`aichat persona memory list ${id}\` shows the ids`],
    })
  throw new AppError('usage', `${total} memories have an id that begins with "${beginning}": give more of it`, {
    details: memories.map((one) => `${one.id}  ${one.content.slice(0, 60)}`),
  })
}

/** Memories that are named where the beginning of an id is ambiguous. */
const mostCandidates = 5

/** The text after it was edited. Throws `found` where it was left as it was. */
async function editedContent(cli: Cli, id: string, memory_id: string): Promise<string> {
  const { content } = await cli.ask(showMemory, { id, memory_id })
  const edited = await editText(cli, content, '--content')
  if (edited.trim() === content) throw new AppError('found', 'Nothing was changed')
  return edited
}

/** The conditions of a list or search with their times read. Throws `usage` for one that is no time. */
function conditionsOf<F extends Times>({ after, before, as_of, ...others }: F) {
  const times = { after: timeOf('--after', after), before: timeOf('--before', before), as_of: timeOf('--as-of', as_of) }
  return { ...others, ...given(times) }
}

interface Times {
  readonly after?: Time
  readonly before?: Time
  readonly as_of?: Time
}

type Time = number | string

function timeOf(option: string, text: Time | undefined): number | undefined {
  if (text === undefined || typeof text === 'number') return text
  const time = localTimeFromText(text)
  if (time !== undefined) return time
  throw new AppError('usage', `Invalid time "${text.slice(0, 40)}" for ${option}: use ${timeForms}`)
}

/** Prints a page of the memories that meet the conditions. */
export async function list(cli: Cli, id: string): Promise<void> {
  const { limit, offset, ...conditions } = conditionsOf(fieldsOf(cli, listMemories))
  const found = await cli.ask(listMemories, { ...conditions, limit, offset, id })
  const isPart = Object.keys(conditions).length > 0 || Number(offset) > 0
  const none = isPart
    ? 'no memory meets these conditions'
    : `no memories yet; add one: aichat persona memory add ${id} TEXT`
  await print(cli, found, ({ memories }) =>
    listing(cli, memories, none, [
      ['ID', (row) => row.id],
      ['TIME', (row) => timeText(cli, row.timestamp)],
      ['WEIGHT', (row) => String(row.importance_score)],
      ['CATEGORY', (row) => `${row.metadata['category'] ?? ''}${row.metadata['pinned'] === true ? ' (pinned)' : ''}`],
      ['CONTENT', (row) => row.content],
    ]),
  )
  if (found.total > found.memories.length)
    note(cli, `aichat: ${found.memories.length} of ${found.total}; see --limit and --offset`)
}

/** Prints the best matches of a query with their scores; notes on stderr a search without vectors, and one that was cut. */
export async function search(cli: Cli, id: string, words: readonly string[]): Promise<void> {
  const conditions = conditionsOf(fieldsOf(cli, searchMemories))
  const found = await cli.ask(searchMemories, { ...conditions, id, query: words.join(' ') })
  await print(cli, found, ({ results }) =>
    listing(cli, results, 'no memory matches', [
      ['SCORE', (row) => row.score.toFixed(3)],
      ['WORDS', (row) => row.parts.lexical.toFixed(2)],
      ['MEANING', (row) => row.parts.vector.toFixed(2)],
      ['TIME', (row) => timeText(cli, row.timestamp)],
      ['CONTENT', (row) => row.content],
    ]),
  )
  if (found.mode === 'lexical' && found.results.length > 0)
    note(cli, `aichat: found by words only; ${found.embedding_model} does not answer`)
  if (found.cut) note(cli, 'aichat: too many long memories may match for one search: some were not read')
}

/** Why memories of a rank leave before others. */
const whyEvicted = {
  question: 'a question',
  answer: "an answer of the persona's",
  over: 'over since a later one',
  passing: 'of its day: a meeting, a meal, the weather',
  told: 'the oldest and least important',
  standing: 'all others stand as well, and are newer or more important',
} as const

/** Prints the evicted memories with the reason, newest first. */
export async function evictions(cli: Cli, id: string): Promise<void> {
  const found = await cli.ask(listEvictions, { ...fieldsOf(cli, listEvictions), id })
  await print(cli, found, ({ evictions: rows }) =>
    listing(cli, rows, 'no memory was evicted', [
      ['EVICTED', (row) => timeText(cli, row.evicted_at)],
      ['ID', (row) => row.memory_id],
      ['TIME', (row) => timeText(cli, row.timestamp)],
      ['LIMIT', (row) => row.reason],
      ['WHY', (row) => (row.reason === 'retention_days' ? 'too old' : row.rank ? whyEvicted[row.rank] : '')],
    ]),
  )
}

/** Wipes memories by category and time, after a confirmation; asks for categories where none is given. */
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
  const answers: Removal[] = []
  for (const category of categories ?? [undefined])
    answers.push(await cli.ask(wipeMemories, { id, ...given({ category, before }) }))
  const removal = summed(answers)
  await print(cli, removal, ({ deleted }) => `${deleted} wiped`)
  tellOf(cli, removal)
}

async function contentOf(cli: Cli, text: string): Promise<string> {
  if (text !== '-' && text !== '') return text
  if (text === '' && !cli.io.stdinIsPiped())
    throw new AppError('usage', 'Nothing to remember: give a text, or - to read stdin')
  const piped = (await readStdinText(cli)).trim()
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
