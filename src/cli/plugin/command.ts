import { Option } from 'commander'
import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'

/** `aichat plugin …`: the documents that describe providers and speech servers. */
export function addPluginCommands(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./actions.ts'))
  const plugin = program
    .command('plugin')
    .description('manage the plugins that reach providers and speech servers')
    .example('aichat plugin list', 'aichat plugin activate openai')

  plugin
    .command('list')
    .description('list the plugins with their state: active, key missing, retired')
    .option('--active', 'only the active ones')
    .addOption(new Option('--type <type>', 'only one type').choices(['completion', 'chat', 'embedding', 'tts']))
    .example('aichat plugin list', 'aichat plugin list --active', 'aichat plugin list --type tts')
    .action(run((plugins) => plugins.list))

  plugin
    .command('show <id>')
    .description('show a plugin')
    .example('aichat plugin show openai')
    .action(run((plugins) => plugins.show))

  plugin
    .command('validate <file...>')
    .description(
      'check plugin files, or stdin with -, without installing them; exit 65 when one is invalid, 1 when one has a field without effect',
    )
    .example('aichat plugin validate custom.json', 'aichat plugin validate plugins/*.json')
    .action(run((plugins) => plugins.validate))

  plugin
    .command('install <source>')
    .description('install a plugin from a file, an http(s) address, or stdin with -; see: aichat help plugin-file')
    .option('--activate', 'make it the active one')
    .field('--force', 'replace a plugin with the same id', 'replace')
    .example('aichat plugin install custom.json --activate', 'aichat plugin install https://example.org/custom.json')
    .action(run((plugins) => plugins.install))

  plugin
    .command('update <id> <file>')
    .description('replace a plugin by a complete document with the same id, from a file or stdin with -')
    .example('aichat plugin update custom custom.json')
    .action(run((plugins) => plugins.update))

  plugin
    .command('remove <id...>')
    .alias('rm')
    .description('remove plugins; a changed bundled one is restored, an unchanged bundled one is hidden')
    .example('aichat plugin remove custom')
    .action(run((plugins) => plugins.remove))

  plugin
    .command('activate <id>')
    .description('make a plugin the active one of its type')
    .example('aichat plugin activate openai')
    .action(run((plugins) => plugins.activate))

  plugin
    .command('deactivate')
    .description('deactivate the active plugin, so that chats go to the local model runner')
    .fieldOption(kindOption())
    .example('aichat plugin deactivate', 'aichat plugin deactivate --type tts')
    .action(run((plugins) => plugins.deactivate))

  plugin
    .command('current')
    .description('show the active plugin')
    .fieldOption(kindOption())
    .example('aichat plugin current', 'aichat plugin current --type tts')
    .action(run((plugins) => plugins.current))

  plugin
    .command('status')
    .description('show whether each plugin can be used, and its last error')
    .option('--check', 'send one small request to each chat plugin whose key is set; exit 1 when one fails')
    .example('aichat plugin status', 'aichat plugin status --check')
    .action(run((plugins) => plugins.status))

  plugin
    .command('export <id>')
    .description('write the plugin document, ready to be installed on another machine')
    .option('-o, --output <file>', 'write to a file')
    .option('--force', 'replace the file')
    .example('aichat plugin export openai -o openai.json')
    .action(run((plugins) => plugins.exportDocument))

  plugin
    .command('test <id>')
    .description('send one small request and show which step failed')
    .example('aichat plugin test openai')
    .action(run((plugins) => plugins.test))
}

function kindOption(): Option {
  return new Option('--type <type>', 'the type of plugin; chat without it').choices(['chat', 'embedding', 'tts'])
}
