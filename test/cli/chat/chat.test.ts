import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { Home } from '../../helpers/program/command.ts'
import { pluginAt } from '../../helpers/program/installation.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import {
  type Answer,
  completion,
  completionEvents,
  json,
  localRunner,
  openStandIn,
  type StandIn,
} from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat chat')
const key = 'sk-canary-0123456789'

const provider: Answer = (request, response) => {
  if (!JSON.parse(request.body).stream) return json(response, 200, completion('Hello there'))
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(completionEvents(['Hello', ' there']).join(''))
}

test('prints the answer and nothing else on stdout', () =>
  withProvider(provider, async ({ home, stand }) => {
    const { code, stdout, stderr } = await home.aichat(['chat', 'Say', 'hello'])
    assert.equal([code, stdout, stderr], [0, 'Hello there\n', ''])
    const request = stand.received[0]!
    assert.is(request.headers['authorization'], `Bearer ${key}`)
    assert.equal(JSON.parse(request.body).messages, [{ role: 'user', content: 'Say hello' }])
  }))

test('joins the text and the piped input, with a system prompt and limits', () =>
  withProvider(provider, async ({ home, stand }) => {
    await home.aichat(['chat', 'Translate:', '--prompt', 'Be brief', '--temperature', '0', '--max-tokens', '9', '-S'], {
      input: 'Guten Tag\n',
    })
    const body = JSON.parse(stand.received[0]!.body)
    assert.equal(body.messages, [
      { role: 'system', content: 'Be brief' },
      { role: 'user', content: 'Translate:\n\nGuten Tag' },
    ])
    assert.equal([body.temperature, body.max_tokens ?? body.max_completion_tokens], [0, 9])
    assert.is(body.stream, false)
  }))

test('piped text alone is a prompt, also without a command', () =>
  withProvider(provider, async ({ home, stand }) => {
    assert.is((await home.aichat([], { input: 'hello' })).stdout, 'Hello there\n')
    assert.is(JSON.parse(stand.received[0]!.body).messages[0].content, 'hello')
  }))

test('a model may be a persona, also beside a default one', () =>
  withProvider(provider, async ({ home, stand }) => {
    await home.aichat(['persona', 'create', '--name', 'Ada L', '--model', 'custom-model', '--prompt', 'You are Ada.'])
    await home.aichat(['persona', 'create', '--name', 'Leo', '--model', 'custom-model', '--prompt', 'You are Leo.'])
    await home.aichat(['config', 'set', 'persona', 'Leo'])
    const { code, stderr } = await home.aichat(['chat', '-m', 'persona:Ada L', 'Hi'])
    assert.equal([code, stderr], [0, ''])
    const { model, messages } = JSON.parse(stand.received[0]!.body)
    assert.equal([model, messages[0].content], ['custom-model', 'You are Ada.'])
    assert.is((await home.aichat(['chat', '-m', 'persona:Nobody', 'Hi'])).code, 67)
  }))

test('attaches text and image files', () =>
  withProvider(provider, async ({ home, stand }) => {
    const note = join(home.folder, 'note.txt')
    const image = join(home.folder, 'dot.png')
    writeFileSync(note, 'buy milk')
    writeFileSync(image, Buffer.from('89504e470d0a1a0a', 'hex'))
    await home.aichat(['chat', '-f', note, '-f', image, 'What is this?'])
    const [message] = JSON.parse(stand.received[0]!.body).messages
    assert.is(message.content[0].text, `<file path="${note}">\nbuy milk\n</file>`)
    assert.is(message.content[1].text, `<file path="${image}" type="image/png"/>`)
    assert.is(message.content[2].image_url.url, 'data:image/png;base64,iVBORw0KGgo=')
    assert.equal(message.content[3], { type: 'text', text: 'What is this?' })
  }))

test('- stands for the piped input, as the text or as one of the files', () =>
  withProvider(provider, async ({ home, stand }) => {
    const note = join(home.folder, 'note.txt')
    writeFileSync(note, 'buy milk')
    const sent = async (words: readonly string[], input: string | Uint8Array) => {
      const { code, stderr } = await home.aichat(words, { input })
      assert.is(code, 0, stderr)
      return JSON.parse(stand.received.at(-1)!.body).messages.at(-1).content
    }
    assert.is(await sent(['chat', '-'], 'hello\n'), 'hello')
    assert.is(await sent(['-'], 'hello\n'), 'hello')
    const texts = (parts: readonly { text: string }[]) => parts.map(({ text }) => text)
    assert.equal(texts(await sent(['chat', '-f', '-', 'What is this?'], 'eggs')), [
      '<file path="standard input">\neggs\n</file>',
      'What is this?',
    ])
    assert.equal(texts(await sent(['chat', '-f', note, '-f', '-'], 'eggs')), [
      `<file path="${note}">\nbuy milk\n</file>`,
      '<file path="standard input">\neggs\n</file>',
    ])
    assert.equal(texts(await sent(['-f', note, '-'], 'eggs')), [`<file path="${note}">\nbuy milk\n</file>`, 'eggs'])
    const [, picture] = await sent(['chat', '-f', '-', 'x'], Buffer.from('89504e470d0a1a0a', 'hex'))
    assert.is(picture.image_url.url, 'data:image/png;base64,iVBORw0KGgo=')
    const twice = await home.aichat(['chat', '-f', '-', '-'], { input: 'eggs' })
    assert.is(twice.code, 64)
    assert.match(twice.stderr, /read only once/)
    assert.is((await home.aichat(['chat', '-'])).code, 64, 'nothing was piped in')
  }))

test('refuses a file that is neither text nor an image, and one that is not there', () =>
  withProvider(provider, async ({ home }) => {
    const binary = join(home.folder, 'x.bin')
    writeFileSync(binary, Buffer.from([0xff, 0xfe, 0x80]))
    assert.is((await home.aichat(['chat', '-f', binary, 'x'])).code, 65)
    assert.is((await home.aichat(['chat', '-f', join(home.folder, 'absent'), 'x'])).code, 66)
  }))

test('--json prints the REST shape with the target that answered', () =>
  withProvider(provider, async ({ home }) => {
    const reply = JSON.parse((await home.aichat(['chat', 'hi', '--json'])).stdout)
    assert.equal([reply.choices[0].message.content, reply.aichat.plugin], ['Hello there', 'custom'])
    assert.is(reply.aichat.fallback, false)
  }))

test('stderr names a fallback and its reason', () =>
  withProvider(
    (_request, response) => json(response, 503, { error: { message: 'Down for repairs' } }),
    async ({ home, runner }) => {
      const { code, stdout, stderr } = await home.aichat(['chat', 'hi'])
      assert.equal([code, stdout], [0, 'local answer\n'])
      assert.match(stderr, /custom failed: Down for repairs/)
      assert.match(stderr, /answered by the local runner \(llama3:latest\)/)
      assert.ok(runner.received.length > 0)
    },
  ))

test('--no-fallback ends with the provider’s own class of error', () =>
  withProvider(
    (_request, response) => json(response, 429, { error: { message: 'Slow down' } }, { 'retry-after': '3600' }),
    async ({ home }) => {
      const { code, stdout, stderr } = await home.aichat(['chat', 'hi', '--no-fallback'])
      assert.equal([code, stdout], [75, ''])
      assert.match(stderr, /Slow down/)
    },
  ))

test('an answer that breaks off is exit 76, with its beginning on stdout', () =>
  withProvider(
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(completionEvents(['Hello', ' there']).slice(0, 2).join(''), () => response.destroy())
    },
    async ({ home }) => {
      const { code, stdout, stderr } = await home.aichat(['chat', 'hi'])
      assert.is(code, 76)
      assert.match(stdout, /^Hello/)
      assert.match(stderr, /broke off/)
    },
  ))

test('a missing key falls back and says which variable to set; where nothing else answers it is exit 78', () =>
  withProvider(provider, async ({ home, stand }) => {
    const { code, stdout, stderr } = await home.aichat(['chat', 'hi'], { environment: { CUSTOM_API_KEY: '' } })
    assert.equal([code, stdout], [0, 'local answer\n'])
    assert.match(stderr, /CUSTOM_API_KEY is not set/)
    const environment = { CUSTOM_API_KEY: '', OLLAMA_HOST: '127.0.0.1:9' }
    for (const flags of [['--no-fallback'], []])
      assert.is((await home.aichat(['chat', 'hi', ...flags], { environment })).code, 78)
    assert.is(stand.received.length, 0)
  }))

test('-o sets any other parameter of the model, as JSON or as text, and names what the provider does not take', () =>
  withProvider(provider, async ({ home }) => {
    const words = ['chat', '--dry-run', 'hi', '-m', 'openai:gpt-4.1-mini']
    const { code, stdout } = await home.aichat([...words, '-o', 'top_p=0.9', '-o', 'stop=["a","b"]', '-o', 'user=ada'])
    assert.is(code, 0)
    const { body } = JSON.parse(stdout)
    assert.equal([body.top_p, body.stop, body.user], [0.9, ['a', 'b'], 'ada'])
    const claude = await home.aichat(['chat', '--dry-run', 'hi', '-m', 'anthropic:claude-haiku-4-5', '-o', 'seed=7'])
    assert.match(JSON.parse(claude.stdout).warnings.join(), /^seed: left out, since/)
    for (const [wrong, advice, exit = 64] of [
      ['top_p', /Write KEY=VALUE/],
      ['model=x', /Use -m in its place/],
      ['top_p=2', /top_p: /, 65],
    ] as const) {
      const refused = await home.aichat([...words, '-o', wrong])
      assert.is(refused.code, exit, wrong)
      assert.match(refused.stderr, advice)
    }
  }))

test('--dry-run shows the request without its key and sends nothing', () =>
  withProvider(provider, async ({ home, stand }) => {
    const { code, stdout } = await home.aichat(['chat', '--dry-run', 'hi', '-m', 'custom-model'])
    assert.is(code, 0)
    const preview = JSON.parse(stdout)
    assert.is(preview.url, `${stand.url}/v1/chat/completions`)
    assert.is(preview.headers.authorization, 'Bearer [CUSTOM_API_KEY]')
    assert.not.match(stdout, new RegExp(key))
    assert.is(stand.received.length, 0)
  }))

test('a model prefix pins the plugin, active or not', () =>
  withProvider(provider, async ({ home, stand }) => {
    await home.aichat(['plugin', 'deactivate'])
    assert.is((await home.aichat(['chat', '-m', 'custom:custom-model', 'hi'])).stdout, 'Hello there\n')
    assert.is(JSON.parse(stand.received[0]!.body).model, 'custom-model')
  }))

test('no question and no terminal is a usage error', () =>
  withProvider(provider, async ({ home }) => {
    assert.is((await home.aichat(['chat'])).code, 64)
  }))

test('--timeout gives up in time, and the provider’s request is cancelled', () =>
  withProvider(
    () => {},
    async ({ home, stand }) => {
      const { code, stderr } = await home.aichat(['chat', 'hi', '--timeout', '2s'])
      assert.is(code, 75)
      assert.match(stderr, /No answer within 2s/)
      while (!stand.received[0]!.cancelled) await new Promise(setImmediate)
    },
  ))

test('wrong numbers are named', () =>
  withProvider(provider, async ({ home }) => {
    const wrong = await home.aichat(['chat', 'hi', '--temperature', 'hot'])
    assert.is(wrong.code, 64)
    assert.match(wrong.stderr, /--temperature <number>' argument 'hot'/)
    const beyond = await home.aichat(['chat', 'hi', '--temperature', '9', '--max-tokens', '0'])
    assert.is(beyond.code, 65)
    assert.match(beyond.stderr, /temperature: /)
    assert.match(beyond.stderr, /--max-tokens: must be at least 1/)
  }))

test.run()

async function withProvider(
  answer: Answer,
  run: (parts: { home: Home; stand: StandIn; runner: StandIn }) => Promise<void>,
): Promise<void> {
  await using stand = await openStandIn(answer)
  await using runner = await openStandIn(localRunner())
  using home = openFastHome({ CUSTOM_API_KEY: key, OLLAMA_HOST: runner.url })
  await home.aichat(['plugin', 'install', '-', '--activate'], {
    input: JSON.stringify(pluginAt(stand.url, { retry: { attempts: 1 } })),
  })
  await run({ home, stand, runner })
}
