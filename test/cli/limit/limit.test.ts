// Some with --all only: a killed process.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import * as assert from 'uvu/assert'
import { aichatCommand } from '../../helpers/program/command.ts'
import { goodPassword } from '../../helpers/program/daemon.ts'
import { pluginAt } from '../../helpers/program/installation.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { completion, json, openStandIn } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat limit')

test('limits are set, changed in part, listed, reset and removed', async () => {
  using home = openFastHome()
  const set = await home.aichat(['limit', 'set', 'user:local', '--rpm', '60', '--budget', '20/month', '--warn', '90'])
  assert.is(set.code, 0, set.stderr)
  assert.match(set.stdout, /subject +user:local\nrpm +60\nbudget +0\.00 of 20 USD a month \(0 %\), anew .*\d/)
  await home.aichat('limit set all --tpd 1000000 --budget 2.50/day --budget 100/month --hard'.split(' '))
  const changed = await home.aichat(['limit', 'set', 'user:local', '--rpm', 'none', '--parallel', '4', '--json'])
  const { rpm, parallel, budgets } = JSON.parse(changed.stdout)
  assert.equal([rpm, parallel, budgets.length, budgets[0].amount_usd, budgets[0].warn], [undefined, 4, 1, '20', 90])
  const listed = await home.aichat(['limit', 'list', '--plain'])
  assert.equal(listed.stdout.split('\n').filter(Boolean), [
    'all\t\t\t\t1000000\t\t0.00 of 2.5 USD a day (0 %), 0.00 of 100 USD a month (0 %)',
    'user:local\t\t\t\t\t4\t0.00 of 20 USD a month (0 %)',
  ])
  assert.is((await home.aichat(['limit', 'reset', 'all'])).code, 0)
  await home.aichat(['limit', 'set', 'user:local', '--parallel', 'none'])
  const last = await home.aichat(['limit', 'set', 'user:local', '--budget', 'none'])
  assert.equal([last.code, last.stdout], [0, 'subject   user:local\nlimits    none\n'], last.stderr)
  assert.is((await home.aichat(['limit', 'remove', 'user:local'])).code, 67)
  assert.is((await home.aichat(['limit', 'remove', 'all'])).stdout, 'all\n')
  assert.is((await home.aichat(['limit', 'remove', 'all'])).code, 67)
  assert.match((await home.aichat(['limit', 'list'])).stderr, /no limits; set one/)
})

test.whole('what a killed command had reserved counts as spent for the next one, without a daemon', async () => {
  let arrived = () => {}
  const asked = new Promise<void>((resolve) => {
    arrived = resolve
  })
  await using provider = await openStandIn((_request, response) => {
    arrived()
    if (provider.received.length > 1) json(response, 200, completion('Hello there'))
  })
  const environment = { CUSTOM_API_KEY: 'sk-test-123456' }
  using home = openFastHome(environment)
  const plugin = JSON.stringify(pluginAt(provider.url))
  assert.is((await home.aichat(['plugin', 'install', '-'], { input: plugin })).code, 0)
  await home.aichat(['plugin', 'activate', 'custom'])
  await home.aichat(['prices', 'set', '*', '--plugin', 'custom', '--input', '0', '--output', '1000'])
  await home.aichat(['limit', 'set', 'all', '--budget', '1.03/day'])
  // Without a bound an answer is reserved with 1,024 tokens.
  const [program, ...words] = aichatCommand
  const child = spawn(program!, [...words, 'chat', 'Hi'], {
    env: { PATH: process.env['PATH'], AICHAT_HOME: home.folder, HOME: home.folder, ...environment },
    stdio: 'ignore',
  })
  await asked
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
  const refused = await home.aichat(['chat', 'Hi', '--max-tokens', '10'])
  assert.match(refused.stderr, /budget of this installation is spent: 1\.03 USD a day/)
  const used = JSON.parse((await home.aichat(['usage', '--json'])).stdout)
  assert.equal([used.total.requests, used.total.estimated, used.total.cost_usd], [1, 1, '1.024'])
  assert.is((await home.aichat(['usage', 'check'])).code, 0)
  await home.aichat(['limit', 'reset', 'all'])
  const answered = await home.aichat(['chat', 'Hi', '--max-tokens', '10'])
  assert.is(answered.stdout, 'Hello there\n', answered.stderr)
})

test('what makes no sense is named with its option, and nothing is set', async () => {
  using home = openFastHome()
  const wrong: readonly (readonly [words: readonly string[], code: number, named: RegExp])[] = [
    [[], 64, /Nothing to set/],
    [['--rpm', '0'], 65, /--rpm/],
    [['--rpm', '-1'], 65, /--rpm/],
    [['--tpm', '1e300'], 65, /--tpm/],
    [['--budget', '20'], 64, /--budget/],
    [['--budget', '-1/day'], 64, /--budget/],
    [['--budget', '20/year'], 64, /--budget/],
    [['--budget', '9999999/day'], 65, /--budget/],
    [['--warn', '90'], 64, /--budget/],
    [['--budget', '1/day', '--warn', '300'], 65, /warn/],
    [['--budget', '1/day', '--timezone', 'Nowhere'], 65, /timezone/],
  ]
  for (const [words, code, named] of wrong) {
    const ran = await home.aichat(['limit', 'set', 'all', ...words])
    assert.is(ran.code, code, `${words.join(' ')}: ${ran.stderr}`)
    assert.match(ran.stderr, named)
  }
  assert.is((await home.aichat(['limit', 'set', 'model:gpt', '--rpm', '1'])).code, 65)
  for (const subject of ['user:nobody', 'plugin:nothing', 'key:0'])
    assert.is((await home.aichat(['limit', 'set', subject, '--rpm', '1'])).code, 67, subject)
  assert.equal(JSON.parse((await home.aichat(['limit', 'list', '--json'])).stdout), { limits: [] })
})

test('a key is made with limits of its own', async () => {
  using home = openFastHome()
  await home.aichat(['setup', '--username', 'ada', '--password-stdin'], { input: goodPassword })
  const made = await home.aichat(['key', 'create', 'script', '--budget', '5/month', '--rpm', '60', '--json'])
  assert.is(made.code, 0, made.stderr)
  const { limits } = JSON.parse((await home.aichat(['limit', 'list', '--json'])).stdout)
  assert.is(limits[0].subject, `key:${JSON.parse(made.stdout).id}`)
  assert.equal([limits[0].rpm, limits[0].budgets[0].amount_usd], [60, '5'])
  assert.is((await home.aichat(['key', 'create', 'other', '--budget', '1/year'])).code, 64)
  assert.is(JSON.parse((await home.aichat(['key', 'list', '--json'])).stdout).total, 1)
  const named = await home.aichat(['limit', 'set', 'user:ADA', '--rpm', '5', '--json'])
  assert.is(JSON.parse(named.stdout).subject, 'user:ada')
  assert.is((await home.aichat(['limit', 'remove', `key:${JSON.parse(made.stdout).id}`])).code, 0)
})

test('a limit ends a chat with 75 and is kept from one command to the next; a price that is not known with 78', async () => {
  await using provider = await openStandIn((_request, response) => json(response, 200, completion('Hello there')))
  using home = openFastHome({ CUSTOM_API_KEY: 'sk-of-the-test' })
  await home.aichat(['plugin', 'install', '-', '--activate'], { input: JSON.stringify(pluginAt(provider.url)) })
  const chat = () => home.aichat(['chat', 'Hi', '--no-fallback'])
  await home.aichat(['limit', 'set', 'user:local', '--rpd', '2'])
  const codes = [(await chat()).code, (await chat()).code]
  assert.equal(codes, [0, 0])
  const refused = await chat()
  assert.is(refused.code, 75, refused.stderr)
  assert.match(refused.stderr, /The limit of this user is reached: 2 requests a day/)
  assert.is(provider.received.length, 2)
  await home.aichat(['limit', 'remove', 'user:local'])
  const budget = await home.aichat(['limit', 'set', 'all', '--budget', '1/day'])
  assert.match(budget.stderr, /the price of custom:[\s\S]* is not known: a budget refuses/)
  const unpriced = await chat()
  assert.is(unpriced.code, 78, unpriced.stderr)
  assert.match(unpriced.stderr, /price of custom-model is not known/)
  await home.aichat(['limit', 'set', 'all', '--budget', '0/day'])
  const status = await home.aichat(['status'])
  assert.match(status.stderr, /the budget of all is at 0\.00 of 0 USD a day \(100 %\)/)
})

test.run()
