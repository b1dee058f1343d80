import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'

/** `aichat models …`: the models of the plugins and of this machine. */
export function addModelCommands(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./actions.ts'))
  const models = program
    .command('models')
    .description('list, refresh and download models')
    .example('aichat models list openai', 'aichat models pull smollm2-135m')

  models
    .command('list [plugin]')
    .description('list the models of all plugins or of one, from their stored lists')
    .field('--installed', 'list the models of this machine instead')
    .option('--wide', 'with the window and the longest answer in tokens, and what each takes and does')
    .example('aichat models list', 'aichat models list openai --wide', 'aichat models list --installed')
    .action(run((model) => model.list))

  models
    .command('show <model>')
    .description('show a model: context, price and capabilities, or size, quantisation, family and licence')
    .example('aichat models show openai:gpt-4.1-mini', 'aichat models show local:llama3')
    .action(run((model) => model.show))

  models
    .command('alias [name] [model]')
    .description('list your own names for models, or add, show or remove one; -m and chat.model take them')
    .option('--remove', 'remove the alias')
    .example(
      'aichat models alias',
      'aichat models alias fast groq:llama-3.3-70b-versatile',
      'aichat models alias fast --remove',
    )
    .action(run((model) => model.alias))

  models
    .command('embeddings')
    .description('list the embedding models for memory search, and how to install a better one')
    .example('aichat models embeddings')
    .action(run((model) => model.embeddings))

  models
    .command('refresh [plugin...]')
    .description('fetch the model lists of the named plugins from their providers')
    .option('--all', 'all plugins except retired ones and those without a key')
    .field('--dry-run', 'show the changes, and write nothing')
    .field('--force', 'accept a list that is less than half as long as the old one')
    .option('--strict', 'count a skipped plugin as failed')
    .example('aichat models refresh openai groq', 'aichat models refresh --all --dry-run')
    .action(run((model) => model.refresh))

  models
    .command('restore <plugin>')
    .description("restore a plugin's previous model list")
    .example('aichat models restore openai')
    .action(run((model) => model.restore))

  models
    .command('pull <name>')
    .description(
      'download a model to this machine: smollm2-360m or smollm2-135m (chat), minilm (embeddings), voxa-tts or voxb-tts (speech)',
    )
    .option('--non-commercial', 'include the files whose licence forbids commercial use, without asking')
    .example('aichat models pull smollm2-135m', 'aichat models pull voxb-tts --non-commercial')
    .action(run((model) => model.pull))

  models
    .command('remove <name>')
    .alias('rm')
    .description('remove a downloaded model from this machine')
    .example('aichat models remove smollm2-135m')
    .action(run((model) => model.remove))
}
