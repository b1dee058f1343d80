import { z } from 'zod'
import type { ToolServers } from '../app/app.ts'
import { AppError } from '../errors.ts'
import { boundedRecord } from '../formats/formats.ts'
import { defineOperation } from './operation.ts'

const text = z.string()

const toolServer = z.object({
  name: text,
  /** Its program or host; arguments and the rest of an address may hold secrets. */
  place: text,
  /** A program runs with the rights of the service: it is added, changed and its tools are allowed on the machine alone. */
  kind: z.enum(['program', 'address']),
  /** The names of the headers that go with each request. */
  headers: z.array(text),
  /** Seconds that a call may take; null for the usual time. */
  timeout: z.int().nullable(),
  /** How many tools are decided about. */
  decisions: z.int(),
  /** The process that answers is connected to it for chats. */
  connected: z.boolean(),
  /** Why the latest attempt of that process to connect failed. */
  failure: z.object({ at: z.int(), message: text }).nullable(),
})

/** `decision` is that of chats at a terminal of the machine, `service` that of chats over HTTP, by the `pin` of the tool. */
const inspectedTool = z.object({ tool: text, description: text, pin: text, decision: text, service: text })

/** What each change of the list says for the audit, and who may make it: API keys may not. */
const changesServers = {
  access: 'admin',
  audited: true,
  deed: ({ name: subject }: { readonly name: string }) => ({ subject }),
} as const

export const listToolServers = defineOperation({
  name: 'mcp.list',
  route: 'GET /api/mcp/servers',
  access: 'admin',
  summary: 'Lists the MCP servers of this machine, whose tools chats may call; starts none.',
  input: z.object({}),
  output: z.object({ servers: z.array(toolServer) }),
  run: async ({ app }) => {
    const servers = await app.toolServers()
    return { servers: Object.keys(servers.list.servers()).map((name) => rowOf(servers, name)) }
  },
})

export const testToolServer = defineOperation({
  name: 'mcp.test',
  failures: [404, 503, 504],
  route: 'POST /api/mcp/servers/:name/test',
  access: 'admin',
  summary: 'Connects to an MCP server and lists its tools, and whether they are allowed.',
  input: z.object({ name: text }),
  output: z.object({ tools: z.array(inspectedTool) }),
  run: async ({ app, signal }, { name }) => ({ tools: await (await app.toolServers()).inspect(name, signal) }),
})

const setToolServer = defineOperation({
  name: 'mcp.set',
  failures: [503],
  route: 'PUT /api/mcp/servers/:name',
  ...changesServers,
  summary:
    'Adds an MCP server by its address, or changes what is given of one. A server that is a program would run on the machine of the service with its rights: `aichat mcp add` adds and changes it there. No answer contains the values of headers.',
  input: z.object({
    name: text,
    /** Only for a new server. */
    new: z.boolean().default(false),
    /** An http or https address; another host needs `headers` again, if there were any. */
    url: z.exactOptional(text.max(2_000)),
    /** All headers that go with each request; kept in the keychain of the machine, or a file that the service alone can read. */
    headers: z.exactOptional(
      boundedRecord(
        text.regex(/^[\w-]{1,100}$/, 'must be a name of a header'),
        text.max(10_000).regex(/^(?:|[\x21-\x7e][\x20-\x7e]*)$/, 'must be printable ASCII'),
        20,
      ),
    ),
    timeout: z.exactOptional(z.int().nullable()),
  }),
  output: toolServer,
  run: async ({ app }, { name, url, headers, timeout, ...given }) => {
    const servers = await app.toolServers()
    const known = Object.hasOwn(servers.list.servers(), name)
    const before = known ? byAddress(servers, name) : { url: '' }
    if (known && given.new) throw new AppError('invalid', `There is a server named "${name}" already`)
    if (url !== undefined && before.headers && !headers && !isSameOrigin(before.url, url))
      throw new AppError('invalid', 'Another host does not get the headers of the earlier one', {
        details: ['Give the headers again, or none: {}'],
      })
    const { timeout: _timeout, headers: names, secrets, ...rest } = before
    const seconds = timeout === undefined ? before.timeout : (timeout ?? undefined)
    const kept = headers ? {} : { ...(names && { headers: names }), ...(secrets && { secrets }) }
    const server = { ...rest, ...kept, ...(seconds && { timeout: seconds }), ...(url !== undefined && { url }) }
    await servers.set(name, server, headers && { headers }, true)
    return rowOf(servers, name)
  },
})

const removeToolServer = defineOperation({
  name: 'mcp.remove',
  failures: [404, 503],
  route: 'DELETE /api/mcp/servers/:name',
  ...changesServers,
  summary: 'Removes an MCP server with the values of its headers and variables, and the decisions about its tools.',
  input: z.object({ name: text }),
  output: z.object({ removed: text }),
  run: async ({ app }, { name }) => {
    await (await app.toolServers()).remove(name)
    return { removed: name }
  },
})

const decideTool = defineOperation({
  name: 'mcp.decide',
  failures: [404],
  route: 'PUT /api/mcp/servers/:name/decision',
  ...changesServers,
  summary:
    'Decides whether chats over HTTP may call a tool, as it is with this pin: always, when the user of the chat allows it, or never. The tools of a program are allowed on its machine alone.',
  input: z.object({
    name: text,
    tool: text.max(1_000),
    /** As the test of the server lists it. */
    pin: text.max(100),
    decision: z.enum(['always', 'ask', 'never']),
  }),
  output: toolServer,
  run: async ({ app }, { name, tool, pin, decision }) => {
    const servers = await app.toolServers()
    if (decision === 'never') servers.list.get(name)
    else byAddress(servers, name)
    servers.list.decide({ server: name, tool, pin, decision, service: true })
    return rowOf(servers, name)
  },
})

/** A server with an address. Throws `not_found`, and `invalid` for one that is a program. */
function byAddress({ list }: ToolServers, name: string) {
  const server = list.get(name)
  if ('url' in server) return server
  throw new AppError('invalid', `The server ${name} is a program, which is decided about on its machine`, {
    details: [`There: aichat mcp add ${name} --force -- COMMAND, or aichat mcp allow ${name} --service`],
  })
}

function isSameOrigin(one: string, other: string): boolean {
  return URL.canParse(other) && new URL(one).origin === new URL(other).origin
}

function rowOf({ list, state }: ToolServers, name: string): z.output<typeof toolServer> {
  const server = list.get(name)
  const { connected, failure = null } = state(name)
  return {
    name,
    ...('url' in server
      ? { kind: 'address' as const, place: new URL(server.url).host, headers: server.headers ?? [] }
      : { kind: 'program' as const, place: server.command, headers: [] }),
    timeout: server.timeout ?? null,
    decisions: list.decisions().filter((each) => each.server === name).length,
    connected,
    failure,
  }
}

export const toolServerOperations = [listToolServers, testToolServer, setToolServer, removeToolServer, decideTool]
