import { textOf } from '../../../../chat/chat.ts'
import { AppError } from '../../../../errors.ts'
import { note } from '../../../terminal/output.ts'
import { folded } from '../../saved/transcript.ts'
import { beginningWith, type TalkCommand } from '../command.ts'
import type { KeptMessage } from '../record.ts'
import type { Talk } from '../talk.ts'

export const retryCommand: TalkCommand = {
  name: 'retry',
  what: 'ask the last question again; its answer is replaced',
  async run(talk) {
    const { asked } = talk
    if (asked && !asked.isKept) return void (await talk.ask(asked.question))
    const taken = await talk.record.undo()
    const { content } = questionOf(taken)
    await talk.ask({ role: 'user', content: content ?? '' }, taken)
  },
}

export const undoCommand: TalkCommand = {
  name: 'undo',
  what: 'take the last question and its answer away',
  async run(talk) {
    const question = wordsOf(textOf(questionOf(await talk.record.undo()).content))
    talk.asked = undefined
    note(talk.cli, `aichat: taken away: ${beginningOf(question)}`)
  },
}

function questionOf(taken: readonly KeptMessage[]): KeptMessage {
  return taken.find(({ role }) => role === 'user')!
}

/** The user's words: a question without its files, unless it holds nothing else. */
function wordsOf(question: string): string {
  const short = folded(question)
  return short.replace(/^<file .*> … <\/file>\n?/gm, '').trim() || short.trim()
}

/** Characters of a question in a remark. */
const longestShown = 60

function beginningOf(question: string): string {
  const line = question.replace(/\s+/g, ' ')
  const characters = [...line]
  return characters.length <= longestShown ? `"${line}"` : `"${characters.slice(0, longestShown).join('')}…"`
}

export const speakCommand: TalkCommand = {
  name: 'speak',
  usage: '[on|off]',
  what: 'speak the last answer, or with on each one from now on while it comes; Ctrl-C stops it',
  async run(talk, rest) {
    const word = rest.trim()
    if (word !== '') {
      if (word !== 'on' && word !== 'off') throw new AppError('usage', '/speak takes on or off, or nothing')
      const { findPlayer } = await import('../../../speech/player.ts')
      if (word === 'on') findPlayer(talk.cli.io.environment)
      talk.options = { ...talk.options, speak: word === 'on' }
      return note(talk.cli, `aichat: answers are ${word === 'on' ? 'spoken' : 'not spoken'} from now on`)
    }
    const { playText } = await import('../../../speech/play-text.ts')
    await playText(talk.cli, await lastAnswer(talk), talk.signal)
  },
  complete: async (_cli, rest) => beginningWith(['on', 'off'], rest),
}

async function lastAnswer({ record }: Talk): Promise<string> {
  const answer = await record.lastAnswer()
  if (answer === undefined || answer.trim() === '') throw new AppError('invalid', 'There is no answer yet')
  return answer
}
