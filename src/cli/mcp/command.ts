import { type Cli, lazyActions } from '../terminal/cli.ts'
import type { CliCommand } from '../terminal/command.ts'
import { parseCount, repeated } from '../terminal/parsers.ts'

/** `aichat mcp …`: the Model Context Protocol, as a server of memory and as a client of other servers. */
export function addMcpCommands(program: CliCommand, cli: Cli): void {
  const run = lazyActions(cli, () => import('./actions.ts'))
  const mcp = program
    .command('mcp')
    .description(
      'serve a persona’s memory by the Model Context Protocol; manage the servers whose tools chats may call',
    )
    .example('aichat mcp --persona Ada', 'aichat mcp add files -- npx -y @modelcontextprotocol/server-filesystem .')

  mcp
    .command('serve', { isDefault: true })
    .description('serve the memory of a persona on stdin and stdout, until stdin ends (the default)')
    .option('-p, --persona <persona>', 'the persona; without it chat.persona, else your only one')
    .option('--read-only', 'offer the tools that change nothing alone')
    .example('aichat mcp --persona Ada', 'aichat mcp serve --persona Ada --read-only')
    .action(lazyActions(cli, () => import('./serve.ts'))(({ serve }) => serve))

  mcp
    .command('add <name> [command...]')
    .description('add a server of tools on this machine: the command that starts it, or its address')
    .option('--url <url>', 'its address, in place of a command')
    .option(
      '--header <header>',
      'send this header with each request: "Name: value", or a name alone to be asked (repeatable)',
      repeated,
    )
    .option(
      '--env <variable>',
      'set this variable: NAME=value, or a name alone to take it from here (repeatable)',
      repeated,
    )
    .option('--timeout-seconds <count>', 'how long a call may take (60)', parseCount)
    .option('--insecure-storage', 'without a keychain, keep the values in a file that only you can read')
    .option('--force', 'replace a server of that name')
    .fields({ name: 'NAME', server: 'COMMAND' })
    .example(
      'aichat mcp add files -- npx -y @modelcontextprotocol/server-filesystem .',
      'aichat mcp add github --env GITHUB_TOKEN -- github-mcp-server stdio',
      'aichat mcp add tracker --url https://tracker.example/mcp --header Authorization',
    )
    .action(run((servers) => servers.add))

  mcp
    .command('list')
    .description('list the servers of tools on this machine; starts none')
    .example('aichat mcp list')
    .action(run((servers) => servers.list))

  mcp
    .command('show <name>')
    .description('show a server and the decisions about its tools, without the values of its variables and headers')
    .example('aichat mcp show files')
    .action(run((servers) => servers.show))

  mcp
    .command('remove <name...>')
    .alias('rm')
    .description('remove servers, their secrets and the decisions about their tools')
    .example('aichat mcp remove files')
    .action(run((servers) => servers.remove))

  mcp
    .command('test <name>')
    .description('connect to a server and list its tools, and whether they are allowed')
    .example('aichat mcp test files')
    .action(run((servers) => servers.test))

  mcp
    .command('allow <name> [tool...]')
    .description('allow tools as they are now, by default all: chats call them unasked, until one of them changes')
    .option('--service', 'for chats over HTTP with personas that name the server')
    .option('--ask', 'with --service: the user of the chat is asked about each call')
    .example('aichat mcp allow files read_file list_directory', 'aichat mcp allow files write_file --service --ask')
    .action(run((servers) => servers.allow))

  mcp
    .command('deny <name> <tool...>')
    .description('deny tools: chats neither call nor ask for them')
    .example('aichat mcp deny files write_file')
    .action(run((servers) => servers.deny))

  mcp
    .command('forget <name> [tool...]')
    .description('forget the decisions about tools, by default all of the server: chats ask again')
    .example('aichat mcp forget files')
    .action(run((servers) => servers.forget))
}
