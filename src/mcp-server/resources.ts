import { type McpServer, ResourceNotFoundError, ResourceTemplate } from '@modelcontextprotocol/server'
import { toAppError } from '../errors.ts'
import { listMemories, showMemory, showMemoryOwner, showPersona } from '../operations/operations.ts'
import { fitting, rowOf } from './rows.ts'
import type { Seat } from './seat.ts'
import { stateOf } from './state.ts'

/** The memories of the resource of recent ones. */
const recentMemories = 20

/**
 * Adds the resources that a client can show or attach: the persona, its state, its recent memories, and each memory by
 * its id.
 */
export function addResources(server: McpServer, { ask, persona: { id, name }, hasPrompt }: Seat): void {
  addJson(
    'profile',
    'persona://profile',
    `${name}: name${hasPrompt ? ', description and prompt' : ' and description'}`,
    async () => {
      const { description } = await ask(showMemoryOwner, { id })
      return { name, description, ...(hasPrompt && { system_prompt: await promptOf(ask, id) }) }
    },
  )
  addJson('state', 'persona://state', `What ${name} has learned`, async () =>
    stateOf(await ask(showMemoryOwner, { id })),
  )
  addJson('recent', 'persona://memories/recent', `The latest memories of ${name}`, async () => {
    const { memories } = await ask(listMemories, { id, limit: recentMemories })
    return { memories: fitting(memories).map((each) => rowOf(each)) }
  })
  server.registerResource(
    'memory',
    new ResourceTemplate('persona://memories/{id}', { list: undefined }),
    { title: 'A memory', description: 'One memory with its whole content', mimeType: 'application/json' },
    (uri, variables) =>
      found(uri.href, async () => {
        const memory = await ask(showMemory, { id, memory_id: String(variables['id']) })
        return rowOf(memory, memory.content.length)
      }),
  )

  function addJson(key: string, uri: string, description: string, read: () => Promise<object>): void {
    const shown = { title: description, description, mimeType: 'application/json' }
    server.registerResource(key, uri, shown, () => found(uri, read))
  }
}

/** Adds the persona's system prompt, for clients that let their user choose one. */
export function addPrompt(server: McpServer, { ask, persona: { id, name } }: Seat): void {
  const description = `Speak as ${name}: her system prompt`
  server.registerPrompt('persona', { title: name, description }, async () => {
    const text = await promptOf(ask, id)
    return { description, messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }] }
  })
}

async function promptOf(ask: Seat['ask'], id: string): Promise<string> {
  return (await ask(showPersona, { id })).system_prompt ?? ''
}

/** A resource as JSON. Throws the protocol's own failure where nothing has its address. */
async function found(uri: string, read: () => Promise<object>) {
  try {
    return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(await read()) }] }
  } catch (thrown) {
    const error = toAppError(thrown)
    throw error.code === 'not_found' ? new ResourceNotFoundError(uri, error.message) : new Error(error.message)
  }
}
