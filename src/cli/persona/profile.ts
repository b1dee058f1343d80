import { AppError } from '../../errors.ts'
import { addProfileLine, editProfileLine, removeProfileLine, showProfile } from '../../operations/operations.ts'
import type { Cli } from '../terminal/cli.ts'
import { fieldsOf } from '../terminal/fields.ts'
import { print } from '../terminal/output.ts'
import { confirm } from '../terminal/prompts.ts'
import { listing } from '../terminal/table.ts'
import { timeText } from '../terminal/times.ts'
import { namedPersona } from './pick-persona.ts'

/** Prints the lines of a profile, with `history` those before them as well. */
export async function show(cli: Cli, given?: string): Promise<void> {
  const id = await namedPersona(cli, given)
  const found = await cli.ask(showProfile, { ...fieldsOf(cli, showProfile), id })
  await print(cli, found, ({ lines, history = [] }) =>
    listing(cli, [...history, ...lines], `no lines yet; add one: aichat persona profile add ${id} TEXT`, [
      ['ID', (row) => row.id],
      ['SLOT', (row) => row.slot],
      ['SINCE', (row) => timeText(cli, row.created_at)],
      ...(history.length > 0
        ? ([['UNTIL', (row: (typeof history)[number]) => (row.ended_at ? timeText(cli, row.ended_at) : '')]] as const)
        : []),
      ['BY', (row) => row.by],
      ['MEMORY', (row) => row.memory_id?.slice(0, 8) ?? ''],
      ['TEXT', (row) => row.text],
    ]),
  )
}

/** Adds a line. */
export async function add(cli: Cli, id: string, words: readonly string[]): Promise<void> {
  const added = await cli.ask(addProfileLine, { ...fieldsOf(cli, addProfileLine), id, text: words.join(' ') })
  await print(cli, added, (line) => line.id)
}

/** Changes the text or the slot of a line. */
export async function edit(cli: Cli, id: string, beginning: string, words: readonly string[]): Promise<void> {
  const fields = fieldsOf(cli, editProfileLine)
  const text = words.join(' ')
  const change = { ...fields, ...(text !== '' && { text }) }
  if (Object.keys(change).length === 0) throw new AppError('usage', 'Nothing to change: give a text or --slot')
  const [line_id] = await lineIdsOf(cli, id, [beginning])
  const edited = await cli.ask(editProfileLine, { ...change, id, line_id: line_id! })
  await print(cli, edited, (line) => line.id)
}

/** Removes lines for good, after a confirmation. */
export async function remove(cli: Cli, id: string, beginnings: readonly string[]): Promise<void> {
  const ids = await lineIdsOf(cli, id, beginnings)
  await confirm(
    cli,
    `Remove ${ids.length === 1 ? 'this line' : `${ids.length} lines`} of the profile of ${id} for good?`,
  )
  for (const line_id of ids) await cli.ask(removeProfileLine, { id, line_id })
  await print(cli, { deleted: ids.length }, () => ids.join('\n'))
}

/** The ids that begin so, of the history too, each once. Throws `not_found`, and `usage` where several begin so. */
async function lineIdsOf(cli: Cli, id: string, beginnings: readonly string[]): Promise<readonly string[]> {
  const { lines, history = [] } = await cli.ask(showProfile, { id, history: true })
  const all = [...new Set([...lines, ...history].map((line) => line.id))]
  const ids = beginnings.map((beginning) => {
    const found = all.filter((one) => beginning !== '' && one.startsWith(beginning))
    if (found.length > 1)
      throw new AppError('usage', `${found.length} lines begin with "${beginning}": give more of the id`)
    if (found.length === 0)
      throw new AppError('not_found', `Line "${beginning}" not found`, {
        details: [`\`aichat persona profile show ${id}\` shows the ids`],
      })
    return found[0]!
  })
  return [...new Set(ids)]
}
