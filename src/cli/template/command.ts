import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'

/** `aichat template …`: prompts with variables, each a file. */
export function addTemplateCommands(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./actions.ts'))
  const template = program
    .command('template')
    .description('list prompts with variables that are kept as files, and ask with them: aichat chat -t NAME')
    .example('aichat template list', 'aichat template path')

  template
    .command('list')
    .description('list the templates with their variables')
    .example('aichat template list')
    .action(run((templates) => templates.list))

  template
    .command('path [name]')
    .description('print the folder in which NAME.yaml and NAME.json are templates, or the file of one')
    .example('aichat template path', '$EDITOR "$(aichat template path)/review.yaml"')
    .action(run((templates) => templates.path))
}
