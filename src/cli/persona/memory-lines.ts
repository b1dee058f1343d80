import { AppError, toAppError } from '../../errors.ts'
import { parseJson } from '../../formats/json/json.ts'
import { parseInput } from '../../operations/ask.ts'
import { addMemories, memoryLine } from '../../operations/memories.ts'
import { showPersona } from '../../operations/personas.ts'
import type { Cli } from '../terminal/cli.ts'
import { readInput } from '../terminal/files.ts'
import { print } from '../terminal/output.ts'
import { openProgress } from '../terminal/progress.ts'

type Line = ReturnType<typeof parseInput<(typeof memoryLine)['input']>>

/** Memories, and characters of them, that are sent at once: the progress moves, and no request grows beyond its limit. */
const batchMemories = 200
const batchCharacters = 500_000

/**
 * Stores a memory for each line of a file, or of stdin for `-`. Throws `invalid` with the number and the reason of each invalid
 * line before anything is stored.
 */
export async function addLines(cli: Cli, id: string, path: string): Promise<void> {
  await cli.ask(showPersona, { id })
  const memories = await readLines(cli, path)
  const progress = openProgress(cli)
  const sum = { added: 0, updated: 0, evicted: 0 }
  let done = 0
  try {
    for (const batch of batchesOf(memories)) {
      progress.show(done / memories.length, `${done} of ${memories.length}`)
      const { added, updated, evicted } = await cli.ask(addMemories, { id, memories: [...batch] })
      sum.added += added
      sum.updated += updated
      sum.evicted += evicted
      done += batch.length
    }
  } catch (reason) {
    throw done === 0 ? reason : partly(toAppError(reason), done)
  } finally {
    progress.clear()
  }
  await print(cli, sum, ({ added, updated, evicted }) =>
    [
      `${added} added`,
      ...(updated > 0 ? [`${updated} updated`] : []),
      ...(evicted > 0 ? [`${evicted} evicted`] : []),
    ].join(', '),
  )
}

/** The memories of all lines; empty lines are passed over. */
async function readLines(cli: Cli, path: string): Promise<readonly Line[]> {
  const text = (await readInput(cli, path)).toString('utf8').replace(/^\ufeff/, '')
  const memories: Line[] = []
  const problems: string[] = []
  let wrong = 0
  text.split('\n').forEach((line, at) => {
    if (line.trim() === '') return
    try {
      memories.push(parseInput(memoryLine, parseJson(line, `line ${at + 1}`)))
    } catch (reason) {
      const { message, details } = toAppError(reason)
      wrong++
      problems.push(...(details.length > 0 ? details.map((detail) => `line ${at + 1}: ${detail}`) : [message]))
    }
  })
  const name = path === '-' ? 'Standard input' : path
  if (wrong > 0)
    throw new AppError(
      'invalid',
      `${name} holds ${wrong} invalid ${wrong === 1 ? 'line' : 'lines'}; nothing was stored`,
      {
        details: problems,
      },
    )
  if (memories.length === 0) throw new AppError('invalid', `${name} holds no memory`)
  return memories
}

/** Memories in the order given, in batches within the limits; one memory alone may be longer. */
export function batchesOf<Memory extends object>(memories: readonly Memory[]): readonly (readonly Memory[])[] {
  const batches: Memory[][] = [[]]
  let characters = 0
  for (const memory of memories) {
    const last = batches.at(-1)!
    characters += JSON.stringify(memory).length
    if (last.length > 0 && (last.length === batchMemories || characters > batchCharacters)) {
      batches.push([memory])
      characters = JSON.stringify(memory).length
    } else last.push(memory)
  }
  return batches
}

/** A failure after some batches were stored. */
function partly(failure: AppError, done: number): AppError {
  return new AppError(failure.code, failure.message, {
    cause: failure,
    details: [...failure.details, `The first ${done} memories are stored; the same file again adds the others`],
  })
}
