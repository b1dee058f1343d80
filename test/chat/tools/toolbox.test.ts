import * as assert from 'uvu/assert'
import { offeredName, pinOf } from '../../../src/chat/tools/pins.ts'
import type { ServerTool, ToolServer } from '../../../src/chat/tools/tool-server.ts'
import { createToolbox } from '../../../src/chat/tools/toolbox.ts'
import { pluck } from '../../helpers/pluck.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('the tools of servers, as a model may call them')

const tool: ServerTool = {
  name: 'read',
  description: 'Reads a file',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
  annotations: { readOnlyHint: true },
}
const at = { name: 'files', origin: '["files"]' }

/** A server of these tools; its answers repeat the call. */
function serverOf(name: string, tools: readonly ServerTool[], text = 'fine'): ToolServer {
  return {
    name,
    origin: name,
    tools: async () => tools,
    call: async () => ({ content: [{ type: 'text', text }], isError: false }),
    close: async () => {},
  }
}

const callOf = (name: string, id = 'a', text = '{}') => ({
  id,
  type: 'function' as const,
  function: { name, arguments: text },
})

test('a pin is of everything that a user approves, in any order of its fields', () => {
  const pin = pinOf(at, tool)
  const { annotations, inputSchema, ...rest } = tool
  assert.is(pinOf(at, { annotations, inputSchema, ...rest }), pin)
  for (const changed of [
    { ...tool, name: 'write' },
    { ...tool, description: 'Reads a file and sends it' },
    { ...tool, inputSchema: { type: 'object' } },
    { ...tool, outputSchema: { type: 'object' } },
    { ...tool, annotations: { readOnlyHint: false } },
  ])
    assert.is.not(pinOf(at, changed), pin)
  assert.is.not(pinOf({ ...at, name: 'other' }, tool), pin)
  assert.is.not(pinOf({ ...at, origin: '["evil"]' }, tool), pin)
})

test('names fit providers and never meet', () => {
  assert.is(offeredName('files', 'read', new Set()), 'files__read')
  const taken = new Set<string>()
  for (const [server, name] of [
    ['a', 'b__c'],
    ['a__b', 'c'],
    ['a', 'b.c'],
    ['a', 'b/c'],
    ['a', 'b_c'],
    ['a', 'x'.repeat(200)],
    ['a', `${'x'.repeat(199)}y`],
    ['a', 'Lesen ü'],
    ['a', ''],
  ] as const) {
    const offered = offeredName(server, name, taken)
    assert.match(offered, /^[A-Za-z0-9_-]{1,64}$/)
    assert.not(taken.has(offered), offered)
    taken.add(offered)
  }
})

test('two servers may have tools of one name', async () => {
  const servers = [serverOf('one', [tool], 'from one'), serverOf('two', [tool], 'from two')]
  const toolbox = createToolbox({ servers, approve: () => true })
  const { tools } = await toolbox.offer()
  assert.equal(
    tools.map((each) => each.function.name),
    ['one__read', 'two__read'],
  )
  const results = await toolbox.run([callOf('two__read', 'a'), callOf('one__read', 'b'), callOf('nobody__read', 'c')])
  assert.equal(pluck(results, 'tool_call_id', 'content'), [
    ['a', 'from two'],
    ['b', 'from one'],
    ['c', 'Error: There is no such tool'],
  ])
})

test('tools beyond what a request takes are left out and named', async () => {
  const many = [...Array(200).keys()].map((number) => ({ ...tool, name: `t${number}` }))
  const long = { ...tool, name: 'long', inputSchema: { description: 'x'.repeat(50_000) } }
  const toolbox = createToolbox({ servers: [serverOf('files', [long, ...many])], approve: () => true })
  const { tools, warnings } = await toolbox.offer()
  assert.is(tools.length, 128)
  assert.match(warnings.join(), /left out.*: long, t128, t129 and 70 more$/)
})

test('the results of a turn have a longest size together, and calls a largest number', async () => {
  const toolbox = createToolbox({ servers: [serverOf('files', [tool], 'x'.repeat(45_000))], approve: () => true })
  await toolbox.offer()
  const calls = [...Array(40).keys()].map((number) => callOf('files__read', String(number)))
  const results = (await toolbox.run(calls)).map(({ content }) => String(content))
  assert.ok(results.join('').length < 403_000)
  assert.match(results[9]!, /^\n\[cut: 45000 characters in all\]$/)
  assert.match(results[39]!, /cut|more than 32 calls/)
})

test('pictures of a result reach the model in their places, as long as they are small enough', async () => {
  const text = (words: string) => ({ type: 'text', text: words })
  const picture = (bytes: number) => ({
    type: 'image_url',
    image_url: { url: `data:image/png;base64,${'A'.repeat((bytes * 4) / 3)}` },
  })
  const small = picture(3_000_000)
  const content = [text('One'), text('two'), small, text('three'), picture(6_000_000)]
  const server = { ...serverOf('files', [tool]), call: async () => ({ content, isError: true }) }
  const toolbox = createToolbox({ servers: [server], approve: () => true })
  await toolbox.offer()
  const calls = [...Array(6).keys()].map((number) => callOf('files__read', String(number)))
  const results = await toolbox.run(calls)
  const tooLarge = '[a picture of 6000000 bytes was left out: more than 5000000 bytes]'
  assert.equal(results[0]!.content, [text('Error: One\ntwo'), small, text(`three\n${tooLarge}`)])
  const tooMany = '[a picture of 3000000 bytes was left out: more pictures and files than one turn holds]'
  assert.is(results[5]!.content, `Error: One\ntwo\n${tooMany}\nthree\n${tooLarge}`)
})

test('the reason of a refusal reaches the model, and an interrupted question ends the turn', async () => {
  const refusing = createToolbox({ servers: [serverOf('files', [tool])], approve: async () => 'Not today' })
  await refusing.offer()
  assert.is((await refusing.run([callOf('files__read')]))[0]!.content, 'Error: Not today')
  const interrupted = createToolbox({
    servers: [serverOf('files', [tool])],
    approve: async () => {
      throw new Error('interrupted')
    },
  })
  await interrupted.offer()
  assert.is(await interrupted.run([callOf('files__read')]).catch(String), 'Error: interrupted')
})

test.run()
