import { textOf } from '../../../../chat/chat.ts'
import { AppError } from '../../../../errors.ts'
import { counted } from '../../../../formats/formats.ts'
import { note } from '../../../terminal/output.ts'
import { nothingAttached } from '../../files/attachment.ts'
import { nothing, type TalkCommand } from '../command.ts'
import { fileNames, homeOf } from '../file-names.ts'
import { say, sayList } from '../say.ts'
import { lastWord, shellWords } from '../shell-words.ts'

export const fileCommand: TalkCommand = {
  name: 'file',
  usage: '[PATH…]',
  what: `put files, folders, "patterns" or pages before the next question, or none by ${nothing}; alone, list them`,
  async run(talk, rest) {
    const { cli, signal, attached } = talk
    const values = shellWords(rest, homeOf(cli))
    if (values.length === 0) return list(talk)
    if (values.length === 1 && values[0] === nothing) {
      talk.attached = nothingAttached
      return note(cli, 'aichat: no files go with the next question')
    }
    if (values.includes(nothing)) throw new AppError('usage', `${nothing} stands alone: standard input is the terminal`)
    const { readFiles } = await import('../../files/read-files.ts')
    const { tellFiles } = await import('../../files/listing.ts')
    const read = await readFiles(cli, values, signal)
    const before = new Set(attached.files.map(({ name }) => name))
    const added = read.files.filter(({ name }) => !before.has(name))
    talk.attached = { ...read, files: [...attached.files, ...added] }
    tellFiles(cli, read, false)
    note(cli, `aichat: ${counted(talk.attached.files.length, 'file')} with the next question`)
  },
  complete: (cli, rest) => fileNames(cli, lastWord(rest).written, true),
}

function list({ cli, attached: { files } }: Parameters<TalkCommand['run']>[0]): void {
  if (files.length === 0) return say(cli, 'aichat: no files go with the next question')
  sayList(
    cli,
    files.map(({ name, tokens }) => `${name} (about ${counted(tokens, 'token')})`),
    '',
  )
}

export const toolsCommand: TalkCommand = {
  name: 'tools',
  what: 'list the tools that the model may call',
  async run(talk) {
    const tools = await talk.tools()
    if (tools.length === 0)
      return say(talk.cli, 'aichat: no tools; start with aichat chat --mcp NAME, see aichat mcp list')
    sayList(
      talk.cli,
      tools.map(({ name, description }) =>
        `${name}  ${textOf(description).replace(/\s+/g, ' ').slice(0, 120)}`.trimEnd(),
      ),
      '',
    )
  },
}
