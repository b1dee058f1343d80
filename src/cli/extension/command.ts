import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'

/** `aichat NAME …` for a program `aichat-NAME` at `path`, which gets all words behind its name as they are. */
export function addExtensionCommand(program: CliCommand, cli: Cli, name: string, path: string): void {
  const run = lazyActions(cli, () => import('./run.ts'))
  program
    .enablePositionalOptions()
    .command(`${name} [words...]`)
    .description(`run ${path}`)
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action((words: readonly string[]) => run((extension) => extension.runExtension)(path, words))
}
