import type { Complete } from '../../../line/completion.ts'
import type { Cli } from '../../../terminal/cli.ts'
import { beginningWith } from '../command.ts'
import { fileNames } from '../file-names.ts'
import { lastWord } from '../shell-words.ts'
import { commandNames, commandOf } from './all.ts'

/** Completes commands, their arguments, and file names in other texts. */
export function completer(cli: Cli): Complete {
  return async (typed, signal) => {
    const [, name, rest] = /^\/([^\s/]*)(?:\s+([\s\S]*))?$/.exec(typed) ?? []
    if (name !== undefined && rest === undefined && !/\s/.test(typed))
      return { from: 1, words: beginningWith(commandNames, name) }
    if (name !== undefined) return argument(cli, name, rest ?? '', typed.length, signal)
    const written = /(?<!\S)\S*$/.exec(typed)![0]
    return { from: typed.length - written.length, words: written === '' ? [] : await fileNames(cli, written, false) }
  }
}

async function argument(cli: Cli, name: string, rest: string, cursor: number, signal: AbortSignal) {
  const command = commandOf(name)
  const words = (await command.complete?.(cli, rest, signal)) ?? []
  // Files are completed word by word, names of models and sessions as a whole: they may hold spaces.
  const length = command.name === 'file' ? lastWord(rest).written.length : rest.length
  return { from: cursor - length, words }
}
