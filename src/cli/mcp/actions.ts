import { openToolServers, type ToolServers } from '../../app/app.ts'
import { pinOf, type ServerTool } from '../../chat/chat.ts'
import { AppError } from '../../errors.ts'
import { counted, printableLine } from '../../formats/formats.ts'
import type { Cli } from '../terminal/cli.ts'
import { note, print } from '../terminal/output.ts'
import { given } from '../terminal/parsers.ts'
import { askSecret, canAsk, confirm } from '../terminal/prompts.ts'
import { labelled, listing } from '../terminal/table.ts'

interface AddOptions {
  readonly url?: string
  readonly header?: readonly string[]
  readonly env?: readonly string[]
  readonly timeoutSeconds?: number
  readonly insecureStorage?: boolean
  readonly force?: boolean
}

/** Adds a server; the values of its variables and headers go to the keychain, and into no list. */
export async function add(cli: Cli, name: string, command: readonly string[], options: AddOptions): Promise<void> {
  const { url, header = [], env = [], timeoutSeconds: timeout, insecureStorage, force } = options
  if ((url === undefined) === (command.length === 0))
    throw new AppError('usage', 'Give either --url or, after --, the command that starts the server')
  if (url === undefined ? header.length > 0 : env.length > 0)
    throw new AppError('usage', url === undefined ? '--header is for a server with --url' : '--env is for a command')
  await withServers(cli, async (servers) => {
    if (!force && Object.hasOwn(servers.list.servers(), name))
      throw new AppError('invalid', `There is a server named "${name}" already`, {
        details: ['Add --force to replace it'],
      })
    const secrets = url === undefined ? { env: await variablesOf(cli, env) } : { headers: await headersOf(cli, header) }
    const [program, ...args] = command
    const where = url === undefined ? { command: program, args } : { url }
    const server = await servers.set(name, { ...where, ...given({ timeout }) }, secrets, insecureStorage === true)
    await print(cli, { name, ...server }, () => name)
    note(cli, `aichat: to see its tools: aichat mcp test ${name}`)
  })
}

/** `NAME=value`, or a name with a value from the environment, else asked for. */
async function variablesOf(cli: Cli, given: readonly string[]): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const text of given) {
    const [, name, value] = /^([A-Za-z_]\w{0,199})(?:=([\s\S]*))?$/.exec(text) ?? []
    if (name === undefined) throw new AppError('usage', 'Invalid --env: use NAME=value, or a name alone')
    found[name] = value ?? cli.io.environment[name] ?? (await askValue(cli, name, `--env ${name}=VALUE`))
  }
  return found
}

/** `Name: value`, or a name with a value that is asked for. */
async function headersOf(cli: Cli, given: readonly string[]): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const text of given) {
    const [, name, value] = /^([\w-]{1,100})(?::\s*(|[\x21-\x7e][\x20-\x7e]*))?$/.exec(text) ?? []
    if (name === undefined) throw new AppError('usage', 'Invalid --header: use "Name: value", or a name alone')
    found[name] = value ?? (await askValue(cli, name, `--header "${name}: VALUE"`))
  }
  return found
}

/** Asks for a value without echo. Throws `usage`, naming the option that gives it, where it cannot ask. */
async function askValue(cli: Cli, name: string, option: string): Promise<string> {
  if (!(await canAsk(cli))) throw new AppError('usage', `Cannot ask without a terminal: use ${option}`)
  return askSecret(cli, `Value of ${name}`, option)
}

/** Prints the servers, without starting one. */
export async function list(cli: Cli): Promise<void> {
  await withServers(cli, async ({ list }) => {
    const decisions = list.decisions()
    const servers = Object.entries(list.servers()).map(([name, server]) => ({
      name,
      ...server,
      decisions: decisions.filter((made) => made.server === name).length,
    }))
    await print(cli, { servers }, (all) =>
      listing(cli, all.servers, 'no servers; add one: aichat mcp add NAME -- COMMAND', [
        ['NAME', (row) => row.name],
        ['SERVER', (row) => ('url' in row ? row.url : [row.command, ...row.args].join(' '))],
        ['DECISIONS', (row) => String(row.decisions)],
      ]),
    )
  })
}

/** Prints a server and the decisions about its tools. */
export async function show(cli: Cli, name: string): Promise<void> {
  await withServers(cli, async ({ list }) => {
    const server = list.get(name)
    const decisions = list.decisions().filter((made) => made.server === name)
    await print(cli, { name, ...server, decisions }, () =>
      labelled([
        ['name', name],
        [
          'url' in server ? 'address' : 'command',
          'url' in server ? server.url : [server.command, ...server.args].join(' '),
        ],
        ['variables', 'env' in server ? server.env?.join(', ') : undefined],
        ['headers', 'headers' in server ? server.headers?.join(', ') : undefined],
        ['values in', server.secrets],
        ['time limit', `${server.timeout ?? 60} s`],
        ...decisions.map(
          ({ tool, decision, service }) => [decision, `${tool}${service ? ' (chats over HTTP)' : ''}`] as const,
        ),
      ]),
    )
  })
}

/** Removes servers with their secrets and decisions, after a confirmation. */
export async function remove(cli: Cli, names: readonly string[]): Promise<void> {
  await withServers(cli, async (servers) => {
    for (const name of names) servers.list.get(name)
    await confirm(cli, `Remove ${names.join(', ')} and the decisions about the tools?`)
    for (const name of names) await servers.remove(name)
    await print(cli, { removed: names }, () => names.join('\n'))
  })
}

/** Connects to a server and prints its tools with the decisions about them. */
export async function test(cli: Cli, name: string): Promise<void> {
  await withServers(cli, async (servers) => {
    const tools = await servers.inspect(name, cli.signal())
    await print(cli, { name, tools }, () =>
      listing(cli, tools, 'the server has no tools', [
        ['TOOL', (row) => row.tool],
        ['CHATS', (row) => row.decision],
        ['OVER HTTP', (row) => row.service],
        ['DESCRIPTION', (row) => row.description],
      ]),
    )
  })
}

/** Allows tools as they are now, after a confirmation. */
export async function allow(
  cli: Cli,
  name: string,
  wanted: readonly string[],
  { service, ask }: { service?: true; ask?: true },
): Promise<void> {
  if (ask && !service) throw new AppError('invalid', 'Give --ask with --service: at a terminal you are asked anyway')
  await withTools(cli, name, async (tools, { list }) => {
    const chosen = wanted.length === 0 ? tools : wanted.map((tool) => found(tools, name, tool))
    if (chosen.length === 0) throw new AppError('not_found', `The server ${name} has no tools`)
    if (wanted.length === 0)
      await confirm(
        cli,
        `Allow ${counted(chosen.length, 'tool')} of ${name}: ${chosen.map((one) => printableLine(one.name)).join(', ')}?`,
      )
    for (const { name: tool, pin } of chosen)
      list.decide({ server: name, tool, pin, decision: ask ? 'ask' : 'always', ...(service && { service }) })
    await print(cli, { server: name, allowed: chosen.map((one) => one.name) }, ({ allowed }) => allowed.join('\n'))
  })
}

/** Denies tools, also as they may become. */
export async function deny(cli: Cli, name: string, tools: readonly string[]): Promise<void> {
  await withServers(cli, async ({ list }) => {
    list.get(name)
    for (const tool of tools) list.decide({ server: name, tool, pin: '', decision: 'never' })
    await print(cli, { server: name, denied: tools }, () => tools.join('\n'))
  })
}

/** Forgets decisions. */
export async function forget(cli: Cli, name: string, tools: readonly string[]): Promise<void> {
  await withServers(cli, async ({ list }) => {
    const forgotten = list.forget(name, tools)
    await print(cli, { server: name, forgotten }, () => `${counted(forgotten, 'decision')} forgotten`)
  })
}

type PinnedTool = ServerTool & { readonly pin: string }

function found(tools: readonly PinnedTool[], server: string, tool: string): PinnedTool {
  const one = tools.find(({ name }) => name === tool)
  if (one) return one
  throw new AppError('not_found', `Tool "${tool}" of ${server} not found`, {
    details: [`There are: ${tools.map(({ name }) => printableLine(name)).join(', ')}`],
  })
}

async function withTools(
  cli: Cli,
  name: string,
  work: (tools: readonly PinnedTool[], servers: ToolServers) => Promise<void>,
): Promise<void> {
  await withServers(cli, async (servers) => {
    const server = await servers.open(name, cli.signal())
    try {
      const tools = await server.tools()
      await work(
        tools.map((tool) => ({ ...tool, pin: pinOf(server, tool) })),
        servers,
      )
    } finally {
      await server.close()
    }
  })
}

async function withServers(cli: Cli, work: (servers: ToolServers) => Promise<void>): Promise<void> {
  const servers = openToolServers(await cli.settings())
  try {
    await work(servers)
  } finally {
    await servers.close()
  }
}
