import * as assert from 'uvu/assert'
import { openInstallation, pluginAt } from '../../helpers/program/installation.ts'
import { openTerminalHere, runMain } from '../../helpers/program/terminal.ts'
import { completion, json, openStandIn } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('how an answer ended')

/** The provider's message and finish reason, by question. */
const answers: Readonly<Record<string, readonly [message: object, finish: string]>> = {
  refuse: [{ content: null, refusal: "I can't help with that." }, 'stop'],
  filter: [{ content: null }, 'content_filter'],
  'filter late': [{ content: 'The first half' }, 'content_filter'],
  cut: [{ content: 'The beginning of' }, 'length'],
  'cut early': [{ content: '', reasoning_content: 'Let me think' }, 'length'],
  empty: [{ content: '' }, 'stop'],
  whole: [{ content: 'All of it.' }, 'stop'],
  call: [
    { content: null, tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }] },
    'tool_calls',
  ],
}

const expected: Readonly<Record<string, readonly [stdout: RegExp, stderr: RegExp, code: number]>> = {
  refuse: [/^I can't help with that\.\n$/, /^aichat: the model refused to answer \(finish reason: stop\)\n$/, 1],
  filter: [/^\n?$/, /^aichat: no answer: the provider filtered it \(finish reason: content_filter\)\n$/, 1],
  'filter late': [/^The first half\n$/, /^aichat: a filter .* cut the answer \(finish reason: content_filter\)\n$/, 0],
  cut: [/^The beginning of\n$/, /^aichat: the answer was cut at its token limit \(finish reason: length\); --max-/, 0],
  'cut early': [/^$/, /^aichat: no answer: the token limit was reached before .* \(finish reason: length\)/, 1],
  empty: [/^$/, /^aichat: the answer is empty \(finish reason: stop\)\n$/, 1],
  whole: [/^All of it\.\n$/, /^$/, 0],
  call: [/"name": ?"f"/, /^$/, 0],
}

for (const flags of [[], ['-S']])
  for (const remote of [false, true])
    test(`is said by the exit code and on stderr ${remote ? 'through a server' : 'in this process'}, ${flags.length ? 'whole' : 'streamed'}`, () =>
      scene(async ({ run, url }) => {
        for (const [question, [stdout, stderr, code]] of Object.entries(expected)) {
          const ran = await run(['chat', question, ...flags, ...(remote ? ['--server', url] : [])])
          assert.match(ran.stdout, stdout, `${question}: ${ran.stderr}`)
          assert.match(ran.stderr, stderr, question)
          assert.is(ran.code, code, question)
        }
      }))

test('--json prints the REST shape in every case, with the same exit code; --quiet still prints the failure', () =>
  scene(async ({ run }) => {
    for (const [question, [, , code]] of Object.entries(expected)) {
      const ran = await run(['chat', question, '--json'])
      const [choice] = JSON.parse(ran.stdout).choices
      assert.is(choice.finish_reason, answers[question]![1], question)
      assert.is(ran.code, code, question)
    }
    assert.is(JSON.parse((await run(['chat', 'refuse', '--json'])).stdout).choices[0].message.refusal.length, 23)
    assert.match((await run(['chat', 'refuse', '-q'])).stderr, /refused/)
    assert.is((await run(['chat', 'cut', '-q'])).stderr, '')
  }))

test('is reported in a conversation on a terminal, which goes on', () =>
  scene(async ({ environment }) => {
    const terminal = openTerminalHere(['chat'], environment)
    await terminal.shows(/conversation\.\s+> $/)
    terminal.type('refuse\r')
    await terminal.shows(/I can't help with that\.\s+aichat: the model refused to answer[\s\S]*> $/)
    terminal.type('empty\r')
    await terminal.shows(/aichat: the answer is empty[\s\S]*> $/)
    terminal.type('cut\r')
    await terminal.shows(/The beginning of\s+aichat: the answer was cut[\s\S]*> $/)
    terminal.type('\x04')
    assert.is((await terminal.ended()).code, 0)
  }))

test.run()

interface Scene {
  readonly home: string
  readonly url: string
  readonly environment: Record<string, string>
  run(words: readonly string[]): ReturnType<typeof runMain>
}

async function scene(work: (scene: Scene) => Promise<void>): Promise<void> {
  await using provider = await openStandIn((request, response) => {
    const { messages, stream } = JSON.parse(request.body)
    const [message, finish] = answers[messages.at(-1).content]!
    const base = completion('')
    if (!stream)
      return json(response, 200, {
        ...base,
        choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }],
      })
    const { tool_calls: calls, ...delta } = message as { tool_calls?: object[] }
    const event = (choice: object) =>
      `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', usage: null, choices: [{ index: 0, ...choice }] })}\n\n`
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(
      event({
        delta: {
          role: 'assistant',
          ...delta,
          ...(calls && { tool_calls: calls.map((call, index) => ({ index, ...call })) }),
        },
        finish_reason: null,
      }),
    )
    response.end(`${event({ delta: {}, finish_reason: finish })}data: [DONE]\n\n`)
  })
  await using installation = openInstallation({ CUSTOM_API_KEY: 'sk-of-the-test' })
  const { home } = installation
  await installation.app.plugins.install(pluginAt(provider.url))
  await installation.app.plugins.activate('custom')
  const url = await installation.serve()
  const environment = { AICHAT_HOME: home, HOME: home, OLLAMA_HOST: '127.0.0.1:9', CUSTOM_API_KEY: 'sk-of-the-test' }
  await work({ home, url, environment, run: (words) => runMain(words, { environment }) })
}
