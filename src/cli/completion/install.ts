import { readFile, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { AppError } from '../../errors.ts'
import { makeFolder } from '../../formats/make-folder.ts'
import { folderOf, homeFolder, xdgFolder } from '../../settings/folders.ts'
import type { Cli } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'
import { writeOutput } from '../terminal/files.ts'
import { note, print } from '../terminal/output.ts'
import { generated } from './generate.ts'
import type { Shell } from './script.ts'

export interface InstallOptions {
  readonly force?: boolean
  readonly remove?: boolean
}

type Environment = Readonly<Record<string, string | undefined>>

/** The generated file of each shell's completions. */
const scripts: Readonly<Record<Shell, string>> = {
  bash: 'completions/aichat.bash',
  zsh: 'completions/_aichat',
  fish: 'completions/aichat.fish',
}

/**
 * Writes the completions of the shells, by default that of $SHELL, and the manual pages where a user's own are looked for.
 * With `remove` takes them away. Throws `usage` where no shell can be told, and `cannot_create` for a file of another program
 * without `force`, before anything is written.
 */
export async function installCompletions(
  cli: Cli,
  program: CliCommand,
  shells: readonly Shell[],
  { force = false, remove = false }: InstallOptions,
): Promise<void> {
  const { environment } = await cli.settings()
  const chosen = shells.length > 0 ? shells : [shellOf(environment)]
  const files = generated(program)
  const wanted = [
    ...chosen.map((shell) => scripts[shell]),
    ...[...files.keys()].filter((path) => path.startsWith('man/')),
  ]
  const targets = wanted.map((path) => ({ text: files.get(path)!, target: placeOf(path, environment) }))
  const foreign = await foreignFiles(targets.map(({ target }) => target))
  if (foreign.length > 0 && !force)
    throw new AppError(
      'cannot_create',
      `Not made by aichat, so not ${remove ? 'removed' : 'replaced'}: ${foreign.join(', ')}`,
      {
        details: ['Add --force to do it all the same'],
      },
    )
  for (const { text, target } of targets) {
    if (remove) await rm(target, { force: true })
    else {
      makeFolder(dirname(target), 0o777)
      await writeOutput(target, text, true)
    }
  }
  await print(cli, { [remove ? 'removed' : 'installed']: targets.map(({ target }) => target) }, () =>
    targets.map(({ target }) => target).join('\n'),
  )
  if (!remove) for (const shell of chosen) note(cli, `aichat: ${await nextStep(shell, environment)}`)
}

function shellOf(environment: Environment): Shell {
  const name = basename(environment['SHELL'] ?? '')
  if (name in scripts) return name as Shell
  throw new AppError('usage', `Name the shell: ${Object.keys(scripts).join(', ')}`, {
    details: [name === '' ? 'SHELL is not set' : `There are no completions for ${name}`],
  })
}

/**
 * The file that a user's shell or `man` reads: as bash-completion, fish and the XDG base directories name it. zsh has no
 * folder of a user's own, so that one is added to its `fpath`.
 */
function placeOf(path: string, environment: Environment): string {
  const data = xdgFolder(environment, 'XDG_DATA_HOME', '.local', 'share')
  const config = xdgFolder(environment, 'XDG_CONFIG_HOME', '.config')
  if (path === scripts.bash)
    return join(environment['BASH_COMPLETION_USER_DIR'] || join(data, 'bash-completion'), 'completions', 'aichat')
  if (path === scripts.fish) return join(config, 'fish', 'completions', 'aichat.fish')
  if (path === scripts.zsh) return join(data, 'zsh', 'site-functions', '_aichat')
  return join(data, 'man', `man${path.at(-1)}`, basename(path))
}

/** The files that are there and do not come from our command tree. */
async function foreignFiles(paths: readonly string[]): Promise<readonly string[]> {
  const found: string[] = []
  for (const path of paths) {
    const text = await readFile(path, 'utf8').catch(() => undefined)
    if (text !== undefined && !/^.*(?:generated from (?:its|the) command tree|aichat)/im.test(text.slice(0, 200)))
      found.push(path)
  }
  return found
}

async function nextStep(shell: Shell, environment: Environment): Promise<string> {
  if (shell === 'fish') return 'fish completes aichat from now on'
  if (shell === 'bash') return 'bash completes aichat in new shells, where the package bash-completion is installed'
  const folder = dirname(placeOf(scripts.zsh, environment))
  const startUp = join(folderOf(environment, 'ZDOTDIR') ?? homeFolder(environment), '.zshrc')
  const text = await readFile(startUp, 'utf8').catch(() => '')
  if (text.includes(folder)) return 'zsh completes aichat in new shells'
  return `put this line into ${startUp}, before compinit: fpath=(${folder} $fpath)`
}
