import type { WordCli } from '../terminal/cli.ts'

/** The user's own names for models. */
export async function aliases(cli: WordCli): Promise<readonly string[]> {
  const { readAliases } = await import('../../settings/model-aliases.ts')
  return [...readAliases((await cli.settings()).paths).keys()]
}
