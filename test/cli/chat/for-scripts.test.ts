import * as assert from 'uvu/assert'
import { suite } from '../../helpers/suite.ts'
import { scene, type TalkScene } from './talk-scene.ts'

const test = suite('a chat for scripts')

async function priced({ home }: TalkScene): Promise<void> {
  const set = await home.aichat([
    'prices',
    'set',
    'custom-model',
    '--plugin',
    'custom',
    '--input',
    '1',
    '--output',
    '1000',
  ])
  assert.is(set.code, 0, set.stderr)
}

test('--json-stream prints an event a line, and ends with usage and end', () =>
  scene(async ({ home }) => {
    const { code, stdout } = await home.aichat(['chat', '--json-stream', 'Hi'])
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.is(code, 0)
    const text = events.flatMap((event) => (event.type === 'text' ? [event.text] : [])).join('')
    assert.is(text, 'heard: Hi')
    assert.equal(events.slice(-2), [
      { type: 'usage', input_tokens: 7, output_tokens: 3, thinking_tokens: 0 },
      { type: 'end', finish_reason: 'stop', by: 'custom:custom-model', cost_nano: null },
    ])
    const failed = await home.aichat(['chat', '--json-stream', '--no-fallback', '-m', 'openai:gpt-4.1', 'Hi'])
    const asJson = await home.aichat(['--json', 'chat', '--no-fallback', '-m', 'openai:gpt-4.1', 'Hi'])
    assert.equal([failed.code, failed.stdout, failed.stderr], [asJson.code, '', asJson.stderr])
    assert.is((await home.aichat(['--json', 'chat', '--json-stream', 'Hi'])).code, 64)
    assert.is((await home.aichat(['chat', '--json-stream'])).code, 64)
  }))

test('--count tells tokens and price, and sends nothing', () =>
  scene(async (made) => {
    await priced(made)
    const { home, provider } = made
    const { stdout } = await home.aichat(['chat', '--count', '--max-tokens', '10', 'Hello there'])
    assert.match(
      stdout,
      /^about \d+ tokens to custom:custom-model: \$0\.0000\d+, at most \$0\.01\d* with an answer of 10 tokens\n$/,
    )
    const found = JSON.parse((await home.aichat(['--json', 'chat', '--count', 'Hello there'])).stdout)
    assert.equal(Object.keys(found), ['plugin', 'model', 'input_tokens', 'input_cost_usd'])
    assert.is(provider.received.length, 0)
    assert.equal(JSON.parse((await home.aichat(['session', 'list', '--json'])).stdout).sessions, [])
  }))

test('--max-cost refuses before sending what can cost more, and what has no known price', () =>
  scene(async (made) => {
    const { home, provider } = made
    const ask = (...words: readonly string[]) => home.aichat(['chat', '--max-tokens', '10', ...words, 'Hi'])
    const unpriced = await ask('--max-cost', '0.05')
    assert.is(unpriced.code, 78)
    assert.match(unpriced.stderr, 'Not sent: the most that custom:custom-model can cost is not known')
    await priced(made)
    const dear = await ask('--max-cost', '0.005')
    assert.equal([dear.code, dear.stdout], [1, ''])
    assert.match(dear.stderr, /^aichat: Not sent: it can cost up to \$0\.01\d*, and --max-cost is \$0\.005\n/)
    assert.is(provider.received.length, 0)
    const cheap = await ask('--max-cost', '0.05')
    assert.equal([cheap.code, cheap.stdout], [0, 'heard: Hi\n'])
    assert.is((await ask('--max-cost', 'much')).code, 64)
  }))

test.run()
