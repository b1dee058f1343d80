import { Option } from 'commander'
import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'
import { parseNumber } from '../terminal/parsers.ts'

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
    .option('--continue', 'continue the latest conversation')
    .option('--no-memory', 'neither read nor store memories of the persona')
    .option(
      '-f, --file <path>',
      'put a text or image file before the question, or stdin with - (repeatable)',
      (path: string, before: readonly string[] = []) => [...before, path],
    )
    .option('--prompt <text>', 'the system prompt')
    .option('--temperature <number>', 'the randomness of the answer, from 0 to 2', parseNumber)
    .option('--max-tokens <count>', 'the longest answer, in tokens', parseNumber)
    .option('-S, --no-stream', 'print the answer when it is complete')
    .option('--no-fallback', 'stop at the first provider that fails')
    .option(
      '--mcp <server>',
      'let the model call the tools of this server, see aichat mcp add (repeatable)',
      (name: string, before: readonly string[] = []) => [...before, name],
    )
    .option('--dry-run', 'print the request that would be sent, and send nothing')
    .example(
      'aichat chat "Explain this" -f notes.md',
      'git diff | aichat chat "Write a commit message"',
      'aichat chat -m openai:gpt-4.1-mini --dry-run "What is a monad?"',
      'aichat chat --mcp files "Which of these notes mention Ada?"',
    )
    .action(run((chat) => chat.runChat))
}
