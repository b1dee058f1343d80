import { AppError } from '../../../../errors.ts'
import { editMemory, removeMemory, showMemory } from '../../../../operations/operations.ts'
import { note } from '../../../terminal/output.ts'
import type { TalkCommand } from '../command.ts'
import { say, sayList } from '../say.ts'
import type { Talk } from '../talk.ts'

const usage = 'Use /why, /why pin N, /why forget N, or /why correct N TEXT'

export const whyCommand: TalkCommand = {
  name: 'why',
  usage: '[pin|forget|correct N [TEXT]]',
  what: 'list the memories of the last answer with their scores; pin, forget or correct one of them by its number',
  async run(talk, rest) {
    const { recall } = talk
    if (!recall) throw new AppError('invalid', 'No answer of a persona yet')
    const [verb = '', number = '', ...words] = rest.trim().split(/\s+/)
    if (verb === '') return list(talk)
    const memory = recall.memories[Number(number) - 1]
    if (!['pin', 'forget', 'correct'].includes(verb)) throw new AppError('usage', usage)
    if (!memory) throw new AppError('usage', `No memory has the number "${number}": /why lists them`)
    const of = { id: recall.persona, memory_id: memory.id }
    if (verb === 'pin') await talk.cli.ask(editMemory, { ...of, metadata: { pinned: true } })
    else if (verb === 'forget') await talk.cli.ask(removeMemory, of)
    else if (words.length === 0) throw new AppError('usage', usage)
    else await talk.cli.ask(editMemory, { ...of, content: words.join(' ') })
    note(talk.cli, `aichat: ${{ pin: 'pinned', forget: 'forgotten', correct: 'corrected' }[verb]}`)
  },
  complete: async (_cli, rest) =>
    ['pin', 'forget', 'correct'].filter((word) => word.startsWith(rest)).map((text) => ({ text })),
}

/** Characters of a memory in the list. */
const longestShown = 200

async function list({ cli, recall }: Talk): Promise<void> {
  const { memories, persona } = recall!
  if (memories.length === 0) return say(cli, 'aichat: no memory went into the last answer')
  const rows: string[] = []
  for (const [at, { id, score }] of memories.entries()) {
    const found = await cli.ask(showMemory, { id: persona, memory_id: id }).catch(() => undefined)
    const text = found ? found.content.replace(/\s+/g, ' ').slice(0, longestShown) : 'it is gone'
    rows.push(`${at + 1}  ${score.toFixed(2)}  ${text}`)
  }
  sayList(cli, rows, '')
}
