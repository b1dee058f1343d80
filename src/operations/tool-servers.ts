import { z } from 'zod'
import type { ToolServers } from '../app/app.ts'
import { defineOperation } from './operation.ts'

const text = z.string()

export const listToolServers = defineOperation({
  name: 'mcp.list',
  route: 'GET /api/mcp/servers',
  access: 'admin',
  summary: 'Lists the MCP servers of this machine, whose tools chats may call; starts none.',
  input: z.object({}),
  output: z.object({
    servers: z.array(
      z.object({
        name: text,
        /** Its program or host; arguments and the rest of an address may hold secrets. */
        place: text,
        /** How many tools are decided about. */
        decisions: z.int(),
        /** The process that answers is connected to it for chats. */
        connected: z.boolean(),
        /** Why the latest attempt of that process to connect failed. */
        failure: z.object({ at: z.int(), message: text }).nullable(),
      }),
    ),
  }),
  run: async ({ app }) => {
    const { list, state } = await app.toolServers()
    const made = list.decisions()
    const servers = Object.entries(list.servers()).map(([name, server]) => {
      const { connected, failure = null } = state(name)
      return {
        name,
        place: placeOf(server),
        decisions: made.filter((each) => each.server === name).length,
        connected,
        failure,
      }
    })
    return { servers }
  },
})

export const testToolServer = defineOperation({
  name: 'mcp.test',
  failures: [404, 503, 504],
  route: 'POST /api/mcp/servers/:name/test',
  access: 'admin',
  summary: 'Connects to an MCP server and lists its tools, and whether they are allowed.',
  input: z.object({ name: text }),
  output: z.object({
    /** `decision` is that of chats at a terminal of the machine, `service` that of chats over HTTP. */
    tools: z.array(z.object({ tool: text, description: text, decision: text, service: text })),
  }),
  run: async ({ app, signal }, { name }) => ({ tools: await (await app.toolServers()).inspect(name, signal) }),
})

function placeOf(server: ReturnType<ToolServers['list']['get']>): string {
  return 'url' in server ? new URL(server.url).host : server.command
}

export const toolServerOperations = [listToolServers, testToolServer]
