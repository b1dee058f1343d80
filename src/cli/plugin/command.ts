import { type Command, Option } from 'commander'
import type { PluginManifest } from '../../plugins/manifest.ts'
import { type Cli, confirm, note, printJson, show, table } from '../terminal/cli.ts'

/** `aichat plugin …`: the documents that say how to reach providers and speech servers. */
export function addPluginCommands(program: Command, cli: Cli): void {
  const plugin = program.command('plugin').description('manage the plugins that reach providers and speech servers')

  plugin
    .command('list')
    .description('list the plugins: which is active, which lacks its key, which is retired')
    .option('--active', 'only the active ones')
    .addOption(new Option('--type <type>', 'only one type').choices(['completion', 'chat', 'embedding', 'tts']))
    .action(async (options: { active?: boolean; type?: string }) => {
      const { plugins, broken } = await cli.ask((await operations()).listPlugins, {})
      const rows = plugins.filter(
        (row) => (!options.active || row.active) && (!options.type || row.type === options.type),
      )
      await show(cli, { plugins: rows, broken }, () =>
        table(cli, rows, [
          ['ID', (row) => row.id],
          ['', (row) => (row.active ? 'active' : '')],
          ['TYPE', (row) => row.type],
          ['STATE', stateOf],
          ['MODELS', (row) => String(row.model_map.length)],
          ['SOURCE', (row) => (row.overridden ? 'bundled, changed' : row.source)],
          ['NAME', (row) => row.name],
        ]),
      )
      for (const { id, problems } of broken)
        note(cli, `aichat: the plugin ${id} cannot be used: ${problems.join('; ')}`)
    })

  plugin
    .command('show <id>')
    .description('show a plugin')
    .action(async (id: string) => {
      const view = await cli.ask((await operations()).showPlugin, { id })
      await show(cli, view, () => block(view))
    })

  plugin
    .command('validate <file...>')
    .description(
      'check plugin files, or stdin with -, without installing them; exit 65 when one is invalid, 1 when something in one has no effect',
    )
    .action(async (files: string[]) => {
      const { validateFiles } = await import('./files.ts')
      await validateFiles(cli, files)
    })

  plugin
    .command('install <source>')
    .description('install a plugin from a file, an address, or stdin with -')
    .option('--activate', 'make it the active one')
    .option('--force', 'replace a plugin with the same id')
    .action(async (source: string, options: { activate?: boolean; force?: boolean }) => {
      const { readPlugin } = await import('./files.ts')
      const { installPlugin, activatePlugin } = await operations()
      const installed = await cli.ask(installPlugin, {
        document: await readPlugin(cli, source),
        replace: options.force === true,
      })
      for (const warning of installed.warnings) note(cli, `aichat: ${warning}`)
      if (options.activate)
        for (const warning of (await cli.ask(activatePlugin, { id: installed.id })).warnings)
          note(cli, `aichat: ${warning}`)
      await show(cli, options.activate ? { ...installed, active: true } : installed, () => installed.id)
    })

  plugin
    .command('update <id> <file>')
    .description('replace a plugin by a whole document with the same id, from a file or stdin with -')
    .action(async (id: string, file: string) => {
      const { readPlugin } = await import('./files.ts')
      const updated = await cli.ask((await operations()).updatePlugin, { id, document: await readPlugin(cli, file) })
      for (const warning of updated.warnings) note(cli, `aichat: ${warning}`)
      await show(cli, updated, () => updated.id)
    })

  plugin
    .command('remove <id...>')
    .alias('rm')
    .description('remove plugins; a changed bundled one becomes as shipped, a bundled one is hidden')
    .action(async (ids: string[]) => {
      const { removePlugin, showPlugin } = await operations()
      for (const id of ids) await cli.ask(showPlugin, { id })
      await confirm(cli, `Remove ${ids.join(', ')}?`)
      const removed: { id: string; removed: true; restored: boolean }[] = []
      for (const id of ids) removed.push(await cli.ask(removePlugin, { id }))
      await show(cli, ids.length === 1 ? removed[0] : { plugins: removed }, () =>
        removed.map(({ id }) => id).join('\n'),
      )
      for (const { id, restored } of removed) if (restored) note(cli, `aichat: ${id} is as shipped again`)
    })

  plugin
    .command('activate <id>')
    .description('make a plugin the active one of its kind')
    .action(async (id: string) => {
      const activated = await cli.ask((await operations()).activatePlugin, { id })
      await show(cli, activated, () => activated.id)
      for (const warning of activated.warnings) note(cli, `aichat: ${warning}`)
    })

  plugin
    .command('deactivate')
    .description('deactivate the active plugin: chats go to the local model runner')
    .addOption(kindOption())
    .action(async (options: { type?: 'chat' | 'embedding' | 'tts' }) => {
      const result = await cli.ask((await operations()).deactivatePlugin, options.type ? { type: options.type } : {})
      await show(cli, result, ({ deactivated }) => deactivated ?? '')
    })

  plugin
    .command('current')
    .description('show which plugin is active')
    .addOption(kindOption())
    .action(async (options: { type?: 'chat' | 'embedding' | 'tts' }) => {
      const current = await cli.ask((await operations()).currentPlugin, options.type ? { type: options.type } : {})
      await show(cli, current, (view) => view?.id ?? '')
    })

  plugin
    .command('status')
    .description('tell whether each plugin can be used and how it last did')
    .option('--check', 'make one tiny live call to each chat plugin whose key is set; exit 1 when one fails')
    .action(async (options: { check?: boolean }) => {
      const { showStatus } = await import('./status.ts')
      await showStatus(cli, options.check === true)
    })

  plugin
    .command('export <id>')
    .description('print the plugin document as it can be installed elsewhere')
    .option('-o, --output <file>', 'write it to a file')
    .option('--force', 'replace the file')
    .action(async (id: string, options: { output?: string; force?: boolean }) => {
      const document = await cli.ask((await operations()).exportPlugin, { id })
      if (!options.output || options.output === '-') return printJson(cli, document)
      const { writeOutput } = await import('../terminal/files.ts')
      await writeOutput(options.output, `${JSON.stringify(document, null, 2)}\n`, options.force === true)
    })

  plugin
    .command('test <id>')
    .description('make one tiny live call and say which step failed')
    .action(async (id: string) => {
      const result = await cli.ask((await operations()).testPlugin, { id })
      await show(cli, result, ({ steps }) =>
        steps.map(({ step, ok, detail }) => `${ok ? 'ok    ' : 'failed'}  ${step}: ${detail}`).join('\n'),
      )
      if (!result.ok) cli.exit = 1
    })
}

function kindOption(): Option {
  return new Option('--type <type>', 'the kind').choices(['chat', 'embedding', 'tts'])
}

/** The contract's plugin operations, loaded when the first command asks for them. */
function operations() {
  return import('../../operations/plugins.ts')
}

function stateOf({ state, auth }: { readonly state: string; readonly auth: { readonly key_env: string } }): string {
  return state === 'key_missing' ? `needs ${auth.key_env}` : state
}

function block(
  plugin: PluginManifest & { active: boolean; state: string; source: string; overridden: boolean },
): string {
  const lines: [string, string | undefined][] = [
    ['id', plugin.id],
    ['name', plugin.name],
    ['type', plugin.type],
    [
      'state',
      `${stateOf(plugin)}${plugin.active ? ', active' : ''}${plugin.status?.since ? ` (${plugin.status.state} since ${plugin.status.since})` : ''}`,
    ],
    ['source', `${plugin.source}${plugin.overridden ? ', changed' : ''}`],
    ['endpoint', plugin.endpoint],
    [
      'key',
      plugin.auth.key_env
        ? `${plugin.auth.key_env}, sent as ${plugin.auth.header}: ${plugin.auth.prefix ?? ''}…`
        : 'none needed',
    ],
    [
      'models',
      `${plugin.model_map.length}${plugin.models_as_of ? `, as of ${plugin.models_as_of}` : ''}; default ${plugin.default_model ?? plugin.model_map[0]}`,
    ],
    ['documentation', plugin.documentation_url],
    ['description', plugin.description],
  ]
  return lines
    .filter(([, value]) => value)
    .map(([label, value]) => `${label.padEnd(14)}${value}`)
    .join('\n')
}
