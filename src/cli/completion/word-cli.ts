import type { Cli } from '../terminal/cli.ts'

/** The parts of a command that completions use: its settings, and a server where one is asked. */
export type WordCli = Pick<Cli, 'settings' | 'globals' | 'ask'>

/** The user's own names for models. */
export async function aliases(cli: WordCli): Promise<readonly string[]> {
  const { readAliases } = await import('../../settings/model-aliases.ts')
  return [...readAliases((await cli.settings()).paths).keys()]
}
