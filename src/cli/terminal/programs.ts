import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Environment } from '../../settings/settings.ts'

/** The first of some programs that lies in a folder of PATH, with its path; undefined where none does. */
export function findProgram(programs: readonly string[], environment: Environment): string | undefined {
  const folders = (environment['PATH'] ?? '').split(delimiter).filter(Boolean)
  const endings = process.platform === 'win32' ? (environment['PATHEXT'] ?? '.EXE;.CMD;.BAT').split(';') : ['']
  const paths = programs.flatMap((program) =>
    folders.flatMap((folder) => endings.map((ending) => join(folder, `${program}${ending}`))),
  )
  return paths.find(isProgram)
}

/** Whether a path is a file that this user may run. */
export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
