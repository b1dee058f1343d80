import { AppError } from '../../../../errors.ts'
import { suggestion } from '../../../../formats/formats.ts'
import { beginningWith, type TalkCommand } from '../command.ts'
import { say } from '../say.ts'
import { retryCommand, speakCommand, undoCommand } from './answers.ts'
import { modelCommand, personaCommand, setCommand, systemCommand, thinkingCommand } from './choices.ts'
import { fileCommand, toolsCommand } from './files.ts'
import { clearCommand, compactCommand, infoCommand, saveCommand, sessionsCommand } from './keeping.ts'
import { whyCommand } from './why.ts'

const helpCommand: TalkCommand = {
  name: 'help',
  aliases: ['?'],
  usage: '[COMMAND]',
  what: 'list the commands and keys, or explain one',
  run({ cli }, rest) {
    const name = rest.trim().replace(/^\//, '')
    const shown = name === '' ? commands : [commandOf(name)]
    const lines = shown.map((command) => helpOf(command, cli.io.columns))
    say(cli, (name === '' ? [...lines, '', ...keys.map((line) => inRows(line, cli.io.columns, 2))] : lines).join('\n'))
  },
  complete: async (_cli, rest) => beginningWith(commandNames, rest),
}

const exitCommand: TalkCommand = {
  name: 'exit',
  aliases: ['quit', 'q', 'bye'],
  what: 'end the conversation, as Ctrl-D does',
  run(talk) {
    talk.ended = true
  },
}

const commands: readonly TalkCommand[] = [
  helpCommand,
  modelCommand,
  personaCommand,
  fileCommand,
  systemCommand,
  setCommand,
  thinkingCommand,
  toolsCommand,
  retryCommand,
  undoCommand,
  whyCommand,
  saveCommand,
  sessionsCommand,
  compactCommand,
  speakCommand,
  infoCommand,
  clearCommand,
  exitCommand,
]

/** The names of the commands, without aliases. */
export const commandNames: readonly string[] = commands.map(({ name }) => name)

/** The command of a name or alias. Throws `usage`, with the nearest one, for any other word. */
export function commandOf(word: string): TalkCommand {
  const found = commands.find(({ name, aliases = [] }) => name === word || aliases.includes(word))
  if (found) return found
  throw new AppError(
    'usage',
    `Unknown command /${word.slice(0, 60)}${suggestion(word, commandNames).replace('mean ', 'mean /')}`,
    {
      details: ['/help lists them; a text that begins with a slash is sent with another one before it, or a space'],
    },
  )
}

/** The columns of the commands in a list of them. */
const nameColumns = 20

function helpOf({ name, usage = '', what }: TalkCommand, columns: number): string {
  const head = `  ${`/${name} ${usage}`.trimEnd()}`
  // In a narrow window the explanation stands below.
  if (columns < 3 * nameColumns) return `${head}\n${inRows(what, columns, 4)}`
  return `${head.padEnd(nameColumns)} ${inRows(what, columns, nameColumns + 1).trimStart()}`
}

/** A text in rows of whole words, indented. */
function inRows(text: string, columns: number, indent: number): string {
  const rows = ['']
  for (const word of text.split(' ')) {
    const row = rows.at(-1)!
    if (row !== '' && indent + row.length + 1 + word.length > columns) rows.push(word)
    else rows[rows.length - 1] = row === '' ? word : `${row} ${word}`
  }
  return rows.map((row) => ' '.repeat(indent) + row).join('\n')
}

const keys = [
  '\\ at the end of a line, Alt-Enter or """ begin another line; Ctrl-X Ctrl-E opens your editor.',
  'Up finds earlier texts, Tab completes, Ctrl-C stops an answer, Ctrl-D, exit or quit ends.',
]
