import * as assert from 'uvu/assert'
import type { Called, TestClient } from './clients.ts'

/** The tools in their order, and those among them that change nothing. */
export const toolNames = 'memory_search memory_list memory_add memory_update memory_forget persona_state'.split(' ')
export const readingTools = ['memory_search', 'memory_list', 'persona_state']

/** Calls a tool and checks that the text says the same as the structured answer. */
export async function callTool(client: TestClient, name: string, given: Record<string, unknown> = {}) {
  const called = await client.callTool({ name, arguments: given })
  assert.not(called.isError, textOf(called))
  assert.equal(JSON.parse(textOf(called)), called.structuredContent)
  return called.structuredContent
}

/** The sentence with which a tool fails. */
export async function failing(client: TestClient, name: string, given: Record<string, unknown> = {}): Promise<string> {
  const called = await client.callTool({ name, arguments: given })
  assert.is(called.isError, true, textOf(called))
  return textOf(called)
}

function textOf({ content }: Called): string {
  return (content as readonly { readonly text: string }[]).map(({ text }) => text).join('\n')
}

/** Lists and calls every tool, each resource and the prompt, of a persona called Mia with an empty memory. */
export async function tourTools(client: TestClient, source: string): Promise<void> {
  const { tools } = await client.listTools()
  assert.equal(
    tools.map(({ name }) => name),
    toolNames,
  )
  for (const { name, annotations, outputSchema } of tools) {
    assert.is(annotations?.['readOnlyHint'], readingTools.includes(name), name)
    assert.ok(outputSchema, name)
  }

  const content = 'My cat Tilly is afraid of thunder'
  const { memory, removed } = await callTool(client, 'memory_add', { content, importance: 0.8, category: 'pets' })
  assert.equal(
    [memory.content, memory.importance, memory.category, memory.source, removed],
    [content, 0.8, 'pets', source, 0],
  )
  await callTool(client, 'memory_add', { content: 'The sourdough is fed on Sundays' })
  const { memories } = await callTool(client, 'memory_search', { query: 'what is my cat afraid of?', limit: 1 })
  assert.equal([memories.length, memories[0].id], [1, memory.id])
  assert.ok(memories[0].score > 0 && memories[0].score <= 1)

  const first = await callTool(client, 'memory_list', { limit: 1 })
  const second = await callTool(client, 'memory_list', { limit: 1, cursor: first.next_cursor })
  assert.equal([second.memories[0].id, second.next_cursor], [memory.id, undefined])
  assert.equal((await callTool(client, 'memory_list', { category: 'none such' })).memories, [])

  const changed = 'My cat Tilly is afraid of fireworks'
  const update = { id: memory.id, content: changed, pinned: true }
  const { memory: updated } = await callTool(client, 'memory_update', update)
  assert.equal([updated.content, updated.pinned, updated.importance], [changed, true, 0.8])
  assert.equal((await callTool(client, 'persona_state')).name, 'Mia')

  assert.equal(await callTool(client, 'memory_forget', { id: memory.id }), {
    forgotten: memory.id,
    may_remain_in: ['exported packages'],
  })
  assert.match(await failing(client, 'memory_forget', { id: memory.id }), /^Memory "[\w-]+" not found/)
  assert.match(await failing(client, 'memory_update', { id: memory.id }), /give content, importance or pinned/)
  assert.match(await failing(client, 'memory_search', { query: '' }), /query/)
  assert.match(await failing(client, 'memory_list', { cursor: 'yesterday' }), /^Invalid cursor/)
}
