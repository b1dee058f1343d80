import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'
import { parseCount } from '../terminal/parsers.ts'

/** `aichat embed`: vectors of texts, and the lines of a file that are nearest to one. */
export function addEmbedCommand(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./actions.ts'))
  program
    .command('embed [text...]')
    .description('print the vector of each text, a JSON list a line; or rank the lines of a file by nearness to a text')
    .option('-m, --model <model>', 'the embedding model, or plugin:model; see aichat models embeddings')
    .option(
      '-f, --file <path>',
      'embed the text of a file, or of stdin with - (repeatable)',
      (path: string, before: readonly string[] = []) => [...before, path],
    )
    .option('--lines', 'embed each line of the files or of stdin for itself')
    .option('--similar <file>', 'rank the lines of a file, or of stdin with -, by their nearness to the text')
    .option('-n, --limit <count>', 'with --similar, print at most this many', parseCount, 10)
    .example(
      'aichat embed "a purring cat"',
      'aichat embed --lines -f names.txt -m potion',
      'aichat embed "my pet is afraid of thunder" --similar notes.txt -n 3',
    )
    .action(run((embed) => embed.embed))
}
