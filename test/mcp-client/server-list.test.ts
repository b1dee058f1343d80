import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openServerList, type ServerList } from '../../src/mcp-client/server-list.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the list of MCP servers')

const command = { command: 'true' }

/** A field of a server at its bound, and beyond it. */
const fields: Readonly<Record<string, readonly [taken: object, refused: object]>> = {
  command: [{ command: 'x'.repeat(10_000) }, { command: 'x'.repeat(10_001) }],
  'no command': [command, { command: '' }],
  args: [
    { ...command, args: new Array(200).fill('x') },
    { ...command, args: new Array(201).fill('x') },
  ],
  env: [
    { ...command, env: new Array(100).fill('X'.repeat(200)) },
    { ...command, env: ['X'.repeat(201)] },
  ],
  'many env': [command, { ...command, env: new Array(101).fill('X') }],
  timeout: [
    { ...command, timeout: 3600 },
    { ...command, timeout: 3601 },
  ],
  'no timeout': [
    { ...command, timeout: 1 },
    { ...command, timeout: 0 },
  ],
  url: [{ url: `http://a.example/${'x'.repeat(1983)}` }, { url: `http://a.example/${'x'.repeat(1984)}` }],
  protocol: [{ url: 'https://a.example' }, { url: 'ftp://a.example' }],
}

test('takes each field up to its bound and not beyond', () =>
  withList((list) => {
    for (const [what, [taken, refused]] of Object.entries(fields)) {
      list.set('one', taken)
      assert.throws(() => list.set('one', refused), /Invalid server/, what)
    }
    list.set('x'.repeat(32), command)
    for (const name of ['x'.repeat(33), '', '-x', 'a b']) assert.throws(() => list.set(name, command), /Invalid server/)
  }))

test('has a hundred servers at the most', () =>
  withList((list) => {
    for (let at = 0; at < 100; at++) list.set(`s${at}`, command)
    assert.throws(() => list.set('another', command), /at most 100 servers/)
    list.set('s0', { command: 'false' })
    list.remove('s1')
    list.set('another', command)
    assert.is(Object.keys(list.servers()).length, 100)
  }))

test('a server that is not in it is told by each method that is about one, and a removed one takes its decisions along', () =>
  withList((list) => {
    for (const of of [() => list.get('none'), () => list.remove('none'), () => list.forget('none', [])])
      assert.throws(of, /MCP server "none" not found/)
    assert.throws(() => list.get('__proto__'), /not found/)
    list.set('one', command)
    list.set('two', command)
    const decided = (server: string, tool: string, decision: 'always' | 'never' = 'always') =>
      ({ server, tool, pin: 'p'.repeat(100), decision }) as const
    for (const made of [decided('one', 'a'), decided('one', 'b'), decided('two', 'a')]) list.decide(made)
    list.decide(decided('one', 'a', 'never'))
    assert.equal(list.decisions(), [decided('one', 'b'), decided('two', 'a'), decided('one', 'a', 'never')])
    list.decide({ ...decided('one', 'a'), service: true })
    assert.is(list.decisions().length, 4)
    for (const beyond of [{ pin: 'p'.repeat(101) }, { tool: 't'.repeat(1001) }])
      assert.throws(() => list.decide({ ...decided('one', 'c'), ...beyond }), /Invalid entry/)
    list.decide({ ...decided('two', 't'.repeat(1000)) })
    assert.equal([list.forget('one', ['none']), list.forget('one', ['b'])], [0, 1])
    assert.is(list.forget('one', []), 2)
    list.remove('two')
    assert.equal([list.servers(), list.decisions()], [{ one: { command: 'true', args: [] } }, []])
  }))

function withList(work: (list: ServerList) => void): void {
  const folder = temporaryFolder()
  work(openServerList(join(folder, 'mcp.json')))
}

test.run()
