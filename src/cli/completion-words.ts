import type { Cli } from './cli.ts'

/** The words of a kind that this installation knows; none where anything goes wrong, since a completion must not speak. */
export async function wordsOf(cli: Cli, kind: string): Promise<readonly string[]> {
  try {
    if (kind !== 'plugins') return []
    const { listPlugins } = await import('../operations/plugins.ts')
    return (await cli.ask(listPlugins, {})).plugins.map((plugin) => plugin.id)
  } catch {
    return []
  }
}
