/**
 * The command line: a folder per group of commands, over `terminal/` (what a terminal shows and reads), `line/` (the prompt of a
 * conversation) and `remote/` (the client of a daemon).
 * Uses: `operations` through `cli.ask`, here or at a daemon, and the shapes and texts of the areas; commander and inquirer.
 * Begin with: this file, `run-command.ts`, `program.ts` (the command tree).
 */
import { versionLine } from '../version.ts'
import { extensionNames } from './extension/find.ts'
import { overview } from './help/overview.ts'
import { type Io, processIo } from './terminal/io.ts'

/** The command line. Returns the exit code. The overview and the version are printed without the command tree. */
export async function main(argv: readonly string[], io: Io = processIo()): Promise<number> {
  const [only = ''] = argv
  const print = argv.length === 1 ? atOnce[only] : undefined
  if (print) {
    try {
      await io.out(print(io))
      return 0
    } catch (thrown) {
      const { reportFailure } = await import('./run-command.ts')
      return reportFailure(thrown, argv, io)
    }
  }
  const { runCommand } = await import('./run-command.ts')
  return runCommand(argv, io)
}

const showHelp = ({ environment }: Io) => overview(extensionNames(environment))
const showVersion = () => `${versionLine()}\n`

/** The texts of options that stand alone. */
const atOnce: Readonly<Record<string, (io: Io) => string>> = {
  '-h': showHelp,
  '--help': showHelp,
  '-V': showVersion,
  '--version': showVersion,
}
