// With --all only: many processes.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { pluck } from '../../helpers/pluck.ts'
import type { DialectId } from '../../helpers/program/client-libraries.ts'
import { pluginAt } from '../../helpers/program/installation.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { openStandIn } from '../../helpers/providers/fake-provider.ts'
import { calling, speaking } from '../../helpers/speech/speaking-model.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('the picture of @modelcontextprotocol/server-everything')

const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json')
const everything = [process.execPath, join(dirname(manifest), 'dist/index.js'), 'stdio']

const png = 'iVBORw0KGgo[\\w+/]{1000,}={0,2}'

/** The request with the result, in each dialect: the path of its endpoint, and where the picture stands. */
const dialects: readonly (readonly [DialectId, path: string, place: RegExp])[] = [
  [
    'openai-chat',
    '/v1/chat/completions',
    new RegExp(
      `"role":"user","content":\\[{"type":"text","text":"From the result of everything__get-tiny-image[^"]*"},{"type":"image_url","image_url":{"url":"data:image/png;base64,${png}"}}\\]`,
    ),
  ],
  [
    'openai-responses',
    '/v1/responses',
    new RegExp(`"output":\\[.*{"type":"input_image","image_url":"data:image/png;base64,${png}"}.*\\]`),
  ],
  [
    'anthropic-messages',
    '/v1/messages',
    new RegExp(
      `"type":"tool_result".*{"type":"image","source":{"type":"base64","media_type":"image/png","data":"${png}"}}`,
    ),
  ],
  [
    'gemini',
    '/v1beta/models/{model}:generateContent',
    new RegExp(`"functionResponse":.*{"inlineData":{"mimeType":"image/png","data":"${png}"}}`),
  ],
  ['ollama', '/api/chat', new RegExp(`"role":"tool".*"images":\\["${png}"\\]`)],
]

for (const [api, path, place] of dialects)
  for (const flags of [[], ['--no-stream']])
    test(`reaches the model in ${api}${flags.join(' ')}, and the turn is saved`, async () => {
      const provider = await openStandIn(
        speaking(api, ({ messages }) =>
          messages.some(({ role }) => role === 'tool')
            ? { content: 'The logo of MCP.' }
            : calling('everything__get-tiny-image', {}),
        ),
      )
      const home = openFastHome({ CUSTOM_API_KEY: 'sk-of-the-test' })
      const aichat = async (words: readonly string[], input?: string) => {
        const { code, stdout, stderr } = await home.aichat(words, input === undefined ? {} : { input })
        assert.is(code, 0, stderr)
        return stdout
      }
      try {
        const plugin = pluginAt(provider.url, { api, endpoint: `${provider.url}${path}` })
        await aichat(['plugin', 'install', '-', '--activate'], JSON.stringify(plugin))
        await aichat(['mcp', 'add', 'everything', '--', ...everything])
        await aichat(['mcp', 'allow', 'everything', 'get-tiny-image'])
        const words = ['chat', ...flags, '-s', 'Talk', '--mcp', 'everything', 'Show it']
        assert.is(await aichat(words), 'The logo of MCP.\n')
        assert.match(provider.received.at(-1)!.body, place)
        const { messages } = JSON.parse(await aichat(['session', 'export', 'Talk', '--format', 'json']))
        assert.equal(pluck(messages, 'content'), ['Show it', 'The logo of MCP.'])
      } finally {
        await provider.close()
        home.remove()
      }
    })

test.run()
