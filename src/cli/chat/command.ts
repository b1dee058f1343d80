import { Option } from 'commander'
import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'
import { parseParameter, parseVariable } from '../terminal/parameters.ts'
import { parseNumber, repeated } from '../terminal/parsers.ts'

/** `aichat chat`: one question, a pipe, or a conversation on a terminal. */
export function addChatCommand(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./actions.ts'))
  program
    .command('chat [text...]')
    .description('ask a model: the text, piped input, or a conversation on a terminal')
    .option('-m, --model <model>', 'the model, plugin:model, or persona:NAME')
    .option('-p, --persona <persona>', 'the persona that answers')
    .addOption(new Option('-r, --role <persona>', 'the same as --persona').hideHelp())
    .option('-s, --session <name>', 'continue a saved conversation, or start one of that name')
    .option('-c, --continue', 'continue the latest conversation')
    .option('--no-log', 'do not save this chat; by default every chat is saved, see aichat session list')
    .option('--no-memory', 'neither read nor store memories of the persona')
    .option(
      '-f, --file <path>',
      'put a file, folder, "pattern" or http(s) page before the question, or stdin with - (repeatable)',
      repeated,
    )
    .option('--prompt <text>', 'the system prompt')
    .option('--temperature <number>', 'the randomness of the answer, from 0 to 2', parseNumber)
    .option('--max-tokens <count>', 'the longest answer, in tokens', parseNumber)
    .option(
      '-o, --option <key=value>',
      'any other parameter of the model: top_p, seed, stop, reasoning_effort … (repeatable)',
      parseParameter,
    )
    .option('--schema <schema>', 'the structure of the answer: a JSON Schema, or the path of its file')
    .option('--json-object', 'have the model answer with one JSON object')
    .option(
      '-t, --template [name]',
      'ask with a template, see aichat template list; without a name, choose it at a terminal',
    )
    .option('--var <name=value>', 'the value of a variable of the template (repeatable)', parseVariable)
    .option('--thinking', 'show what the model thinks before its answer, dimmed, by its last lines as it comes')
    .option('--speak', 'speak the answer while it comes, by the default voice; Ctrl-C stops it')
    .option('-S, --no-stream', 'print the answer when it is complete')
    .option('--no-fallback', 'stop at the first provider that fails')
    .option('--local-only', 'never leave this machine: no provider, page, tool server or embedding elsewhere')
    .option('--mcp <server>', 'let the model call the tools of this server, see aichat mcp add (repeatable)', repeated)
    .option(
      '--json-stream',
      'print events as they come, one line of JSON each: text, thinking, tool, warning, usage, end',
    )
    .option('--max-cost <usd>', 'send nothing where it can cost more than this, such as 0.05; asks one provider')
    .option('--count', 'print the tokens and the price of the question, and send nothing')
    .option('--dry-run', 'print the request that would be sent, with sizes and tokens of files, and send nothing')
    .example(
      'aichat chat "Explain this" -f notes.md',
      'aichat chat "What does this do?" -f src -f "docs/*.md" -f https://example.com/',
      'git diff | aichat chat "Write a commit message"',
      'aichat chat -c "And in French?"',
      'aichat chat -m openai:gpt-4.1-mini --dry-run "What is a monad?"',
      'aichat chat -o seed=7 -o reasoning_effort=high "Prove it"',
      'aichat chat -f page.html --schema person.json "Who is this?"',
      'git diff | aichat chat -t review --var lang=de',
      'aichat chat --mcp files "Which of these notes mention Ada?"',
      'aichat chat --local-only -f diary.md "What did I promise?"',
      'git diff | aichat chat --count "Review this"',
      'aichat chat --max-cost 0.05 --max-tokens 500 "Explain monads"',
      'aichat chat --plain "Write a table of the planets in Markdown"',
    )
    .action(run((chat) => chat.runChat))
}
