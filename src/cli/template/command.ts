import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'
import { parseParameter, parseVariable } from '../terminal/parameters.ts'

/** `aichat template …`: prompts with variables, kept as files. */
export function addTemplateCommands(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./actions.ts'))
  const template = program
    .command('template')
    .description('keep prompts with variables, and ask with them: aichat chat -t NAME')
    .example(
      "aichat template create review --prompt 'Review this in $lang: $input' --default lang=English",
      'aichat template list',
    )

  template
    .command('create <name> [file]')
    .description('keep a template: from options, or from a YAML or JSON file, or from stdin with -')
    .option('--system <text>', 'the system prompt')
    .option('--prompt <text>', 'the prompt; $input stands for the text, $name for --var name=…, $$ for a dollar sign')
    .option('-m, --model <model>', 'the model, plugin:model, or persona:NAME')
    .option('-o, --option <key=value>', 'a parameter of the model, such as temperature=0 (repeatable)', parseParameter)
    .option('--schema <schema>', 'the structure of the answer, as in aichat chat --schema')
    .option(
      '-f, --file <path>',
      'a file, folder, "pattern" or page that is always sent along (repeatable)',
      (path: string, before: readonly string[] = []) => [...before, path],
    )
    .option('--default <name=value>', 'the value of a variable that --var does not give (repeatable)', parseVariable)
    .option('--description <text>', 'its purpose, shown by template list')
    .option('--force', 'replace a template of this name')
    .example(
      "aichat template create review --system 'You review code.' --prompt 'Review in $lang: $input' --default lang=English",
      'aichat template create people people.yaml',
      "echo 'prompt: Translate into $lang' | aichat template create translate -",
    )
    .action(run((templates) => templates.create))

  template
    .command('list')
    .description('list the templates with their variables')
    .example('aichat template list')
    .action(run((templates) => templates.list))

  template
    .command('show <name>')
    .description('print a template')
    .example('aichat template show review')
    .action(run((templates) => templates.show))

  template
    .command('edit <name>')
    .description('edit a template in $VISUAL or $EDITOR; a text that is no template is kept for the next edit')
    .example('aichat template edit review')
    .action(run((templates) => templates.edit))

  template
    .command('remove <name...>')
    .alias('rm')
    .description('remove templates')
    .example('aichat template remove review')
    .action(run((templates) => templates.remove))

  template
    .command('path [name]')
    .description('print the folder of the templates, or the file of one')
    .example('aichat template path', 'aichat template path review')
    .action(run((templates) => templates.path))
}
