import { type Command, Option } from 'commander'
import { type Cli, parseNumber } from '../terminal/cli.ts'
import type { ChatOptions } from './options.ts'

/** `aichat chat`: one question, a pipe, or a conversation on a terminal. */
export function addChatCommand(program: Command, cli: Cli): void {
  program
    .command('chat [text...]')
    .description('ask a model: the text, what is piped in, or a conversation on a terminal')
    .option('-m, --model <model>', 'the model, or plugin:model')
    .option('-p, --persona <persona>', 'the persona that answers')
    .addOption(new Option('-r, --role <persona>', 'the same as --persona').hideHelp())
    .option('-s, --session <name>', 'go on with a saved conversation, or begin one of that name')
    .option('--continue', 'go on with the conversation spoken in last')
    .option('--no-memory', 'neither look into the memories of the persona nor make new ones')
    .option(
      '-f, --file <path>',
      'put a text or image file before the question, or stdin with - (repeatable)',
      (path: string, before: readonly string[] = []) => [...before, path],
    )
    .option('--prompt <text>', 'the system prompt')
    .option('--temperature <number>', 'how freely the model chooses, from 0 to 2', parseNumber)
    .option('--max-tokens <count>', 'the longest answer, in tokens', parseNumber)
    .option('-S, --no-stream', 'print the answer when it is whole')
    .option('--no-fallback', 'do not ask anybody else when the first one fails')
    .option('--dry-run', 'show the request that would go out, and send nothing')
    .action(async (words: readonly string[], options: ChatOptions) => {
      const { runChat } = await import('./run.ts')
      await runChat(cli, words.join(' '), options)
    })
}
