import { stripVTControlCharacters } from 'node:util'
import * as assert from 'uvu/assert'
import { type ChatRequest, textOf } from '../../../src/chat/protocol/messages.ts'
import { pluginAt } from '../../helpers/program/installation.ts'
import { openFastHome, openTerminalHere } from '../../helpers/program/terminal.ts'
import { openStandIn } from '../../helpers/providers/fake-provider.ts'
import { speaking } from '../../helpers/speech/speaking-model.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('chat.compact')

const filling = 'blah '.repeat(1_600)
const isSummary = ({ messages }: ChatRequest) => textOf(messages.at(-1)!.content).startsWith('Summarise')

/** A home with a model of 10,000 tokens, which counts five characters of a request as one. */
async function open(rule: string, summary = 'They spoke of the harbour.') {
  const provider = await openStandIn(
    speaking(
      'openai-chat',
      (request) => ({ content: isSummary(request) ? summary : `${request.messages.length} messages` }),
      ({ messages }) => {
        const prompt_tokens = Math.round(JSON.stringify(messages).length / 5)
        return { prompt_tokens, completion_tokens: 5, total_tokens: prompt_tokens + 5 }
      },
    ),
  )
  const environment = { CUSTOM_API_KEY: 'sk-of-the-test', AICHAT_CHAT_COMPACT: rule }
  const home = openFastHome(environment)
  const plugin = pluginAt(provider.url, { models: { 'custom-model': { context_window: 10_000 } } })
  await home.aichat(['plugin', 'install', '-', '--activate'], { input: JSON.stringify(plugin) })
  return {
    home,
    environment: { ...environment, AICHAT_HOME: home.folder, HOME: home.folder },
    summaries: () => provider.received.filter(({ body }) => body.includes('Summarise')).length,
    async [Symbol.asyncDispose]() {
      await provider.close()
      home.remove()
    },
  }
}

for (const [rule, said, summaries, later] of [
  ['ask', /fills 8\d%[^;]+; aichat session compact \S+ has it summarised/, 0, '11 messages'],
  ['auto', /fills 8\d%[\s\S]+the summary stands for the first 6 messages, \d+ characters for \d+/, 1, '7 messages'],
  ['off', undefined, 0, '11 messages'],
] as const)
  test(`${rule}, in scripts: once four fifths of the window are full`, async () => {
    await using all = await open(rule)
    const ask = (text: string) => all.home.aichat(['chat', '-s', 'Talk', text])
    let last = await ask(`1 ${filling}`)
    for (let turn = 2; turn <= 5; turn++) {
      assert.not.match(last.stderr, 'fills', `before question ${turn}`)
      last = await ask(`${turn} ${filling}`)
    }
    assert.match(last.stderr, said ?? /^$/)
    assert.is(all.summaries(), summaries)
    assert.is((await ask('And now?')).stdout, `${later}\n`)
  })

/** A conversation at a terminal of five long questions and a short one, and what was shown from the fifth on. */
async function talk({ environment }: { environment: Record<string, string> }) {
  const terminal = openTerminalHere(['chat'], environment)
  for (let turn = 1; turn <= 5; turn++) {
    await terminal.shows(/> $/)
    terminal.type(`\x1b[200~${turn} ${filling}\x1b[201~\r`)
    await terminal.shows(new RegExp(`${2 * turn - 1} messages`))
  }
  await terminal.shows(/> $/)
  terminal.type('And now?\r')
  await terminal.shows(/\d+ messages[\s\S]*> $/)
  terminal.type('\x04')
  assert.is((await terminal.ended()).code, 0)
  const shown = stripVTControlCharacters(terminal.shown())
  return shown.slice(shown.lastIndexOf('9 messages'))
}

for (const [rule, answered, words] of [
  ['ask', 11, /^9 messages\s+aichat: the conversation fills 8\d%[^;]+; \/compact has it summarised/],
  ['auto', 7, /fills 8\d%[\s\S]+They spoke of the harbour\.\s+aichat: the summary stands for the first 6 messages/],
  ['off', 11, /^9 messages\s+> /],
] as const)
  test(`${rule}, at a terminal: once four fifths of the window are full`, async () => {
    await using all = await open(rule)
    const shown = await talk(all)
    assert.match(shown, words)
    assert.match(shown, new RegExp(`\\b${answered} messages`))
    assert.is(all.summaries(), Number(rule === 'auto'))
  })

test('auto: a summary that is longer than what it replaces is told, and the conversation goes on as it is', async () => {
  await using all = await open('auto', filling.repeat(4))
  const shown = await talk(all)
  assert.match(shown, /no usable summary; the conversation is as it was[\s\S]+\b11 messages/)
})

test.run()
