import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { type Deeds, toolsOfTheTest } from './tools-of-the-test.ts'

// `--sdk` serves by the official SDK, whose modules cost half a second of a core at each start.
const isSdk = process.argv.includes('--sdk')
// A process that outlives a server which is killed alone; its id goes to the file that is named.
const [file] = process.argv.slice(2).filter((word) => word !== '--sdk')
if (file !== undefined) {
  const helper = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  writeFileSync(file, `${process.pid} ${helper.pid}`)
  process.on('SIGTERM', () => {})
}

const deeds: Deeds = { shifty: 'Does nothing much' }
if (isSdk) {
  const { serveStdio } = await import('@modelcontextprotocol/server/stdio')
  const { createSdkServer } = await import('./sdk-server.ts')
  serveStdio(() => createSdkServer(deeds))
} else serveLines(deeds)

interface Message {
  readonly id?: string | number
  readonly method?: string
  // biome-ignore lint/suspicious/noExplicitAny: a client of the tests sends what each method takes
  readonly params?: any
  readonly result?: unknown
  readonly error?: unknown
}

/** Serves the tools as the protocol says, a message a line. */
function serveLines(deeds: Deeds): void {
  const send = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const waiting = new Map<unknown, (answer: Message) => void>()
  const ask = async (method: string, params?: object) => {
    const id = `asked-${waiting.size}`
    const answered = new Promise<Message>((resolve) => waiting.set(id, resolve))
    send({ id, method, params })
    const { result, error } = await answered
    if (error !== undefined) throw new Error(JSON.stringify(error))
    return result
  }
  const call = async (name: string, given: { text?: unknown } = {}) => {
    const tool = toolsOfTheTest(deeds).find((tool) => tool.name === name)
    if (!tool) throw new Error(`There is no tool ${name}`)
    if (tool.takesText && typeof given.text !== 'string') throw new Error('text must be a string')
    const before = deeds.shifty
    const said = await tool.run(String(given.text), ask)
    if (deeds.shifty !== before) send({ method: 'notifications/tools/list_changed' })
    return said
  }
  const answers: Readonly<Record<string, (params: Message['params']) => object | Promise<object>>> = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'tools-of-the-test', version: '1.0.0' },
    }),
    ping: () => ({}),
    'tools/list': () => ({
      tools: toolsOfTheTest(deeds).map(({ name, description, takesText, annotations }) => ({
        name,
        description,
        annotations,
        inputSchema: takesText
          ? { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
          : { type: 'object', properties: {} },
      })),
    }),
    'tools/call': ({ name, arguments: given }) =>
      call(name, given).then(
        (text) => ({ content: [{ type: 'text', text }] }),
        (reason: Error) => ({ content: [{ type: 'text', text: reason.message }], isError: true }),
      ),
  }
  createInterface({ input: process.stdin }).on('line', async (line) => {
    const { id, method, params = {}, ...answer }: Message = JSON.parse(line)
    if (id === undefined) return
    if (method === undefined) return waiting.get(id)?.(answer)
    const find = answers[method]
    if (find) send({ id, result: await find(params) })
    else send({ id, error: { code: -32601, message: `There is no method ${method}` } })
  })
}
