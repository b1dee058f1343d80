import type { Command } from 'commander'
import { type Cli, note, show, table } from '../terminal/cli.ts'

/** `aichat models …`: what the plugins offer and what is on this machine. */
export function addModelCommands(program: Command, cli: Cli): void {
  const models = program.command('models').description('list the models of the plugins and of this machine')

  models
    .command('list [plugin]')
    .description('list the models of all plugins or of one, from their stored lists')
    .option('--installed', 'list the models of this machine instead')
    .action(async (plugin: string | undefined, options: { installed?: boolean }) => {
      const { listModels } = await import('../../operations/models.ts')
      const found = await cli.ask(listModels, {
        ...(plugin !== undefined && { plugin }),
        installed: options.installed === true,
      })
      await show(cli, found, ({ models: rows }) =>
        table(cli, rows, [
          ['MODEL', (row) => row.id],
          ['PLUGIN', (row) => row.plugin ?? row.runner ?? ''],
          ['TYPE', (row) => row.type],
          ['', (row) => (row.default ? 'default' : '')],
        ]),
      )
    })

  models
    .command('embeddings')
    .description('list the models that find memories by meaning, and how to get a better one')
    .action(async () => {
      const { listEmbeddingModels } = await import('../../operations/personas.ts')
      const found = await cli.ask(listEmbeddingModels, {})
      await show(cli, found, ({ models: rows }) =>
        table(cli, rows, [
          ['MODEL', (row) => row.name],
          ['BY', (row) => row.provider],
          ['DIMENSION', (row) => String(row.dimension ?? '')],
          ['', (row) => row.note ?? ''],
        ]),
      )
      for (const line of found.instructions ?? []) note(cli, line)
    })

  models
    .command('refresh [plugin...]')
    .description('fetch the lists of the named plugins, or of all, from their providers')
    .option('--all', 'all plugins but the retired ones and those whose key is not set')
    .option('--dry-run', 'show what would change, and write nothing')
    .option('--force', 'take a list that is less than half as long as the old one')
    .option('--strict', 'count what was skipped as failed')
    .action(async (ids: readonly string[], options: import('./refresh.ts').RefreshOptions) => {
      const { runRefresh } = await import('./refresh.ts')
      await runRefresh(cli, ids, options)
    })

  models
    .command('restore <plugin>')
    .description("go back to a plugin's list before the last change")
    .action(async (plugin: string) => {
      const { runRestore } = await import('./refresh.ts')
      await runRestore(cli, plugin)
    })

  models
    .command('pull <name>')
    .description(
      'bring a model to this machine: smollm2-360m or smollm2-135m (chat), minilm (embeddings), voxb-tts (speech)',
    )
    .option('--non-commercial', 'with the files whose licence allows no commercial use, without asking')
    .action(async (name: string, options: { nonCommercial?: true }) => {
      const { runPull } = await import('./pull.ts')
      await runPull(cli, name, options)
    })

  models
    .command('remove <name>')
    .description('remove a pulled model from this machine')
    .action(async (name: string) => {
      const { runRemove } = await import('./pull.ts')
      await runRemove(cli, name)
    })
}
