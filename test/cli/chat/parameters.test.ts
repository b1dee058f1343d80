import * as assert from 'uvu/assert'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { localRunner, openStandIn } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat chat -o, for each shipped plugin')

/** The parameters sent to each model. */
const asked: Readonly<Record<string, unknown>> = {
  top_p: 0.9,
  top_k: 5,
  seed: 7,
  stop: ['END', 'STOP'],
  reasoning_effort: 'high',
  presence_penalty: 0.5,
  frequency_penalty: 0.25,
  logit_bias: { '50256': -100 },
  verbosity: 'low',
  made_up: 'yes',
}

/** The parameters that a model does not take; all others are in its request. */
const leftOut: Readonly<Record<string, readonly string[]>> = {
  'openai:gpt-4.1-mini': [],
  'openai:o3-mini': ['top_p', 'presence_penalty', 'frequency_penalty', 'logit_bias'],
  'anthropic:claude-3-haiku-20240307': [
    ...['seed', 'presence_penalty', 'frequency_penalty', 'logit_bias', 'verbosity', 'made_up', 'reasoning_effort'],
  ],
  'anthropic:claude-haiku-4-5': [
    ...['seed', 'presence_penalty', 'frequency_penalty', 'logit_bias', 'verbosity', 'made_up', 'top_k', 'top_p'],
  ],
  'anthropic:claude-opus-4-7': [
    ...['seed', 'presence_penalty', 'frequency_penalty', 'logit_bias', 'verbosity', 'made_up', 'top_p', 'top_k'],
  ],
  'gemini:gemini-2.5-flash': ['logit_bias', 'verbosity', 'made_up'],
  'gemini:gemini-2.0-flash': ['logit_bias', 'verbosity', 'made_up', 'reasoning_effort'],
  'groq:llama-3.1-8b-instant': [],
  'mistral:mistral-small-latest': [],
  'openrouter:openai/gpt-4.1-mini': [],
  'github:openai/gpt-4.1-mini': [],
}

/** The value that stands for each parameter in a request, in the words of a dialect. */
const marks: Readonly<Record<string, RegExp>> = {
  top_p: /"top_?[pP]":0\.9\b/,
  top_k: /"top_?[kK]":5\b/,
  seed: /seed":7\b/,
  stop: /\["END","STOP"\]/,
  reasoning_effort: /"(?:reasoning_effort|effort)":"high"|"(?:thinkingBudget|budget_tokens)":24576/,
  presence_penalty: /"presence_?[pP]enalty":0\.5\b/,
  frequency_penalty: /"frequency_?[pP]enalty":0\.25\b/,
  logit_bias: /"50256":-100/,
  verbosity: /"verbosity":"low"/,
  made_up: /"made_up":"yes"/,
}

const home = openFastHome()
test.after(() => home.remove())

test('the list has every shipped plugin for chats', async () => {
  const { stdout } = await home.aichat(['plugin', 'list', '--type', 'completion', '--json'])
  const ids = (JSON.parse(stdout).plugins as readonly { readonly id: string }[]).map(({ id }) => id)
  assert.equal([...new Set(Object.keys(leftOut).map((model) => model.split(':')[0]))].sort(), [...ids].sort())
})

for (const [model, missing] of Object.entries(leftOut))
  test(`${model}: each parameter is in the request, or named as left out`, async () => {
    const words = Object.entries(asked).flatMap(([key, value]) => ['-o', `${key}=${JSON.stringify(value)}`])
    const { code, stdout, stderr } = await home.aichat(['chat', 'hi', '--dry-run', '-m', model, ...words])
    assert.is(code, 0, stderr)
    const { body, warnings } = JSON.parse(stdout) as { readonly body: object; readonly warnings: readonly string[] }
    const named = warnings.flatMap((line) =>
      (/^(.*): left out, since /.exec(line)?.[1] ?? '').split(', ').filter(Boolean),
    )
    assert.equal([...named].sort(), [...missing].sort())
    for (const [name, mark] of Object.entries(marks))
      assert.is(mark.test(JSON.stringify(body)), !missing.includes(name), `${name} in ${JSON.stringify(body)}`)
  })

test('a reasoning effort that a small --max-tokens leaves no room for is named', async () => {
  const words = ['chat', 'hi', '--dry-run', '-m', 'anthropic:claude-haiku-4-5', '-o', 'reasoning_effort=high']
  const { stdout } = await home.aichat([...words, '--max-tokens', '500'])
  const { body, warnings } = JSON.parse(stdout)
  assert.is(body.thinking, undefined)
  assert.match(warnings.join(), /^reasoning_effort: left out/)
})

test('an answer names on stderr what was left out', async () => {
  await using runner = await openStandIn(localRunner())
  using local = openFastHome({ OLLAMA_HOST: runner.url })
  const words = ['chat', 'hi', '-m', 'llama3', '-o', 'seed=7', '-o', 'logit_bias={"5":1}', '-o', 'made_up=1']
  const { code, stderr } = await local.aichat(words)
  assert.equal([code, stderr], [0, 'aichat: logit_bias, made_up: left out, since Ollama does not know it\n'])
})

test.run()
