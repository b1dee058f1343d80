import { readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { commandNames } from '../help/overview.ts'
import { isProgram } from '../terminal/programs.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Programs of this name in `PATH` are commands of `aichat`. */
const prefix = 'aichat-'

/** The path of the program that adds a command, the first in `PATH`; undefined for a command of `aichat` itself. */
export function findExtension(name: string, environment: Environment): string | undefined {
  if (!isFree(name)) return undefined
  return foldersOf(environment)
    .map((folder) => join(folder, `${prefix}${name}`))
    .find(isProgram)
}

/** The names of the commands that programs in `PATH` add, sorted. */
export function extensionNames(environment: Environment): readonly string[] {
  const names = foldersOf(environment).flatMap((folder) =>
    filesOf(folder)
      .filter((file) => file.startsWith(prefix) && isFree(file.slice(prefix.length)) && isProgram(join(folder, file)))
      .map((file) => file.slice(prefix.length)),
  )
  return [...new Set(names)].sort()
}

/** A name that no command of `aichat` has, and that no option or path could be. */
function isFree(name: string): boolean {
  return /^[a-z0-9][a-z0-9-]{0,60}$/.test(name) && name !== 'help' && !commandNames().includes(name)
}

function foldersOf({ PATH = '' }: Environment): readonly string[] {
  return PATH.split(delimiter).filter((folder) => folder !== '')
}

function filesOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
