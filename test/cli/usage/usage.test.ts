import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openInstallation, pluginAt } from '../../helpers/program/installation.ts'
import { type Ran, type RunMainOptions, runMain } from '../../helpers/program/terminal.ts'
import { completion, completionEvents, json, openStandIn, type StandIn } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat usage')

test('usage is a table', () =>
  scene(async ({ aichat }) => {
    await aichat(['chat', '-S', 'cheap'])
    await aichat(['chat', '-S', '-m', 'custom:dear', 'dear'])
    const piped = await aichat(['usage', '--by', 'model'])
    assert.is(piped.code, 0, piped.stderr)
    assert.equal(piped.stdout.split('\n'), [
      'MODEL         REQUESTS  INPUT  OUTPUT    COST',
      'custom-model         1     12       5   $0.25',
      'dear                 1     12       5  $25.00',
      '',
    ])
    assert.match(piped.stderr, /^aichat: 2 requests, \$25\.25, from [\d-]+ to [\d-]+ UTC\n$/)
    const plain = await aichat(['usage', '--by', 'model', '--plain', '-q'])
    assert.equal(plain.stdout.split('\n')[1], 'dear\t1\t12\t5\t25\t0\t0\t0\t0\t0\t0')
  }))

test('usage is printed as CSV and JSON, and exported to a file', () =>
  scene(async ({ aichat, folder }) => {
    await aichat(['chat', '-S', 'cheap'])
    const csv = await aichat(['usage', '--by', 'plugin,user', '--csv'])
    assert.equal(csv.stdout.split('\r\n').slice(0, 2), [
      'plugin,user,username,requests,failed,input_tokens,cached_tokens,cache_write_tokens,output_tokens,reasoning_tokens,characters,cost_nano,unpriced,estimated,cost_usd,cached_percent',
      'custom,local,,1,0,12,0,0,5,0,0,250000000,0,0,0.25,0',
    ])
    assert.is(JSON.parse((await aichat(['usage', '--json'])).stdout).total.cost_usd, '0.25')
    const file = join(folder, 'usage.csv')
    assert.equal((await aichat(['usage', 'export', '-o', file])).code, 0)
    assert.is(readFileSync(file, 'utf8').split('\r\n').length, 3)
    assert.is((await aichat(['usage', 'export', '-o', file])).code, 73)
    assert.is((await aichat(['usage', 'export', '-o', join(folder, 'no', 'x.csv')])).code, 73)
    const rows = JSON.parse((await aichat(['usage', 'export', '--json', '--since', '1d'])).stdout)
    assert.equal([rows.length, rows[0].user, rows[0].cost_usd], [1, 'local', '0.25'])
    assert.is((await aichat(['usage', '--user', 'local', '--since', '2020-01-01'])).stdout.split('\n').length, 3)
    assert.is((await aichat(['usage', '--user', 'a-removed-user'])).stdout, '')
    for (const [code, ...words] of [
      [65, '--since', 'nonsense'],
      [65, '--by', 'price'],
      [65, '--until', '2020-01-01', '--since', '1d'],
    ] as const)
      assert.is((await aichat(['usage', ...words])).code, code, words.join(' '))
  }))

test('an unknown cost is told as unknown, and the ledger can be checked and pruned', () =>
  scene(async ({ aichat }) => {
    await aichat(['chat', '-S', 'FREE'])
    const { stdout, stderr } = await aichat(['usage'])
    assert.match(stdout, /unknown +1$/m)
    assert.match(stderr, '1 request, of unknown cost')
    const checked = await aichat(['usage', 'check'])
    assert.equal([checked.code, checked.stdout], [0, 'the ledger and its sums agree\n'])
    assert.is((await aichat(['usage', 'prune', '--before', '2020-01-01'])).code, 64, 'asks first')
    const pruned = await aichat(['usage', 'prune', '--before', '2020-01-01', '--yes'])
    assert.equal([pruned.code, pruned.stdout], [0, '0 requests before 2020-01-01 removed\n'])
  }))

test('the cost of an answer is told with -v, and that of a conversation with it', () =>
  scene(async ({ aichat }) => {
    const said = await aichat(['chat', '-v', '-s', 'Trip', 'cheap'])
    assert.match(said.stderr, /answered by custom \(custom-model\), \d+ tokens in and \d+ out, \$0\.25\n/)
    await aichat(['chat', '-s', 'Trip', '-S', 'cheap'])
    await aichat(['chat', '-s', 'Trip', '-S', 'FREE'])
    const shown = await aichat(['session', 'show', 'Trip'])
    assert.is(shown.stderr, 'aichat: $0.5, and 1 answer of unknown cost\n')
    const { cost } = JSON.parse((await aichat(['session', 'show', 'Trip', '--json'])).stdout)
    assert.equal(cost, { cost_usd: '0.5', cost_nano: 500_000_000, unpriced: 1 })
  }))

test.run()

interface Scene {
  readonly folder: string
  aichat(words: readonly string[], options?: RunMainOptions): Promise<Ran>
}

/** A data folder with a provider that charges 25 USD a request for the model `dear`, and 0.25 for any other. */
async function scene(work: (scene: Scene) => Promise<void>): Promise<void> {
  const provider: StandIn = await openStandIn((request, response) => {
    const { model, messages, stream } = JSON.parse(request.body)
    const usage = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 }
    const cost = messages.at(-1).content === 'FREE' ? {} : { cost: model === 'dear' ? 25 : 0.25 }
    if (!stream) return json(response, 200, { ...completion('answer'), usage: { ...usage, ...cost } })
    const counts = {
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model,
      choices: [],
      usage: { ...usage, ...cost },
    }
    const events = completionEvents(['ans', 'wer'])
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end([...events.slice(0, -1), `data: ${JSON.stringify(counts)}\n\n`, events.at(-1)].join(''))
  })
  const { home: folder, app, close } = openInstallation()
  const environment = {
    AICHAT_HOME: folder,
    HOME: folder,
    OLLAMA_HOST: '127.0.0.1:9',
    CUSTOM_API_KEY: 'sk-of-the-test',
  }
  try {
    await app.plugins.install(pluginAt(provider.url))
    await app.plugins.activate('custom')
    await work({ folder, aichat: (words, options) => runMain(words, { ...options, environment }) })
  } finally {
    await close()
    await provider.close()
  }
}
