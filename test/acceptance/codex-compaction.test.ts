import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { type ChatRequest, type Message, textOf } from '../../src/chat/protocol/messages.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { withLibraries } from '../helpers/program/client-libraries.ts'
import { calling, speaking } from '../helpers/speech/speaking-model.ts'
import { suite } from '../helpers/suite.ts'
import { clientPrograms, pathOf, runTask } from './client-programs.ts'

const test = suite('Codex compacts a long task through the daemon')

const codex = clientPrograms.find(({ name }) => name === 'codex')!
const path = await pathOf(codex)
if (path === undefined) process.stdout.write('skipped: codex is not in PATH (AICHAT_TEST_CLIENTS=1)\n')

const steps = 8
const summary = 'Some files are made already, each by one command.'
const texts = ({ messages }: ChatRequest) => messages.map(({ content }) => textOf(content))
const isWish = (request: ChatRequest) =>
  /^Summarise the conversation above|CONTEXT CHECKPOINT COMPACTION/.test(texts(request).at(-1)!)

for (const [how, name, api] of [
  ['by a model of its own choice', 'aichat', 'openai-chat'],
  ['as it asks OpenAI for it', 'OpenAI', 'anthropic-messages'],
] as const)
  (path === undefined ? test.skip : test)(`${how}, before a provider of ${api}`, () => {
    let step = 0
    const asked: ChatRequest[] = []
    const say = (request: ChatRequest): Partial<Message> => {
      asked.push(request)
      if (isWish(request)) return { content: summary }
      if (step === steps) return { content: 'All files are made.' }
      const command = `echo ${++step} > made-${step}.txt; printf '%08000d' ${step}`
      return { content: 'I go on.', ...calling('exec_command', { cmd: command }, `call_${step}`) }
    }
    const count = (body: object) => {
      const prompt_tokens = Math.round(JSON.stringify(body).length / 4)
      return { prompt_tokens, completion_tokens: 10, total_tokens: prompt_tokens + 10 }
    }
    return withLibraries(
      speaking(api, say, count),
      async ({ url }) => {
        const home = temporaryFolder()
        const program = {
          ...codex,
          setUp(folder: string, at: string) {
            const made = codex.setUp(folder, at)
            const file = join(folder, '.codex', 'config.toml')
            const settings = readFileSync(file, 'utf8').replace('name = "aichat"', `name = "${name}"`)
            writeFileSync(file, `model_context_window = 40000\nmodel_auto_compact_token_limit = 16000\n${settings}`)
            return made
          },
        }
        const { code, output } = await runTask(program, path!, home, url)
        assert.is(code, 0, output)
        assert.match(output, 'All files are made.')
        for (let at = 1; at <= steps; at++) assert.ok(existsSync(join(home, 'work', `made-${at}.txt`)), `file ${at}`)
        const at = asked.findIndex(isWish)
        assert.ok(at > 0, 'the task was compacted')
        const [before = '', after = ''] = [asked[at - 1]!, asked[at + 1]!].map((request) => texts(request).join('\n'))
        assert.match(after, summary)
        assert.match(after, 'Make the file made.txt.')
        assert.ok(after.length < before.length)
      },
      { plugin: { api } },
    )
  })

test.run()
