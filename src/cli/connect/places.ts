import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Environment, folderOf, homeFolder } from '../../settings/settings.ts'

/** The places of the clients' own files on this machine. */
export interface Places {
  readonly codexFolder: string
  readonly claudeFolder: string
  readonly opencodeFile: string
  /** The words of a command that prints a file. */
  printFile(path: string): readonly [command: string, ...args: readonly string[]]
}

/** The places that the clients look at, by their own variables and the customs of the system. */
export function placesOf(environment: Environment, platform: NodeJS.Platform = process.platform): Places {
  const home = folderOf(environment, 'HOME') ?? (environment['USERPROFILE'] || homeFolder(environment))
  const windows = platform === 'win32'
  const config = folderOf(environment, 'XDG_CONFIG_HOME') ?? join(home, '.config')
  return {
    codexFolder: environment['CODEX_HOME'] || join(home, '.codex'),
    claudeFolder: environment['CLAUDE_CONFIG_DIR'] || join(home, '.claude'),
    opencodeFile: environment['OPENCODE_CONFIG'] || opencodeFile(join(config, 'opencode')),
    printFile: (path) => (windows ? ['cmd', '/c', 'type', path] : ['cat', path]),
  }
}

/** opencode reads both of its files; the one with comments is taken where it is there. */
function opencodeFile(folder: string): string {
  const withComments = join(folder, 'opencode.jsonc')
  return existsSync(withComments) ? withComments : join(folder, 'opencode.json')
}
