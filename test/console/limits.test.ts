// With --all only: a browser.
import * as assert from 'uvu/assert'
import { pluginAt } from '../helpers/program/installation.ts'
import { sceneSuite } from './scene.ts'
import { goTo, logIn } from './visits.ts'

const test = sceneSuite('limits in the console')

test('a new limit shows and keeps those that its subject has; a first budget names the models that it stops', async (scene) => {
  const { token } = scene.admin
  await scene.installation.app.plugins.install(pluginAt(scene.provider.url, { id: 'free', model_map: ['f1'] }))
  const limitsOf = async (subject: string) => {
    const { budgets = [], subject: _, ...rates } = (await scene.call('GET', `/api/limits/${subject}`, { token })).body
    return [...budgets.map((each: Record<string, unknown>) => `${each['amount_usd']}/${each['period']}`), rates]
  }
  const visit = await logIn(scene, 'ada')
  const { page, troubles } = visit
  const save = page.getByRole('dialog').getByRole('button', { name: /^Save/ })
  const fill = (label: string, text: string) => page.getByRole('dialog').getByLabel(label, { exact: true }).fill(text)
  const closed = () => page.getByRole('dialog').waitFor({ state: 'detached' })
  await goTo(visit, 'usage/budgets', 'Usage')

  // ada has 20 USD a month and 120 requests a minute.
  await page.getByRole('button', { name: 'New limit' }).click()
  await fill('For', 'user:ada')
  await fill('At the same time', '4')
  await save.click()
  await page.getByText('user:ada has limits already').waitFor()
  assert.is(await page.getByLabel('Requests a minute').inputValue(), '120')
  assert.equal(await limitsOf('user:ada'), ['20/month', { rpm: 120 }])
  await save.click()
  await closed()
  assert.equal(await limitsOf('user:ada'), ['20/month', { rpm: 120, parallel: 4 }])

  // A budget of another period stands beside it; what is no number takes nothing away.
  await page.getByRole('button', { name: 'New limit' }).click()
  await fill('For', 'user:ada')
  await fill('Budget in US dollars', '2')
  await page.getByLabel('Each').selectOption('day')
  await save.click()
  await page.getByText('It also has US$20.00 a month').waitFor()
  await fill('Requests a minute', 'many')
  await save.click()
  await page.getByRole('dialog').getByRole('alert').waitFor()
  await fill('Requests a minute', '')
  await save.click()
  await closed()
  assert.equal((await limitsOf('user:ada')).sort(), ['2/day', '20/month', { parallel: 4 }].sort())

  // An amount alone leaves the rest of that budget as it is.
  const body = { budgets: [{ amount_usd: 9, period: 'month', hard: false, warn: 50 }], rpm: 6 }
  await scene.call('PUT', '/api/limits/all', { token, body })
  await page.getByRole('button', { name: 'New limit' }).click()
  await fill('For', 'all')
  await fill('Budget in US dollars', '10')
  await save.click()
  await page.getByText('all has limits already').waitFor()
  await save.click()
  await closed()
  const [budget] = (await scene.call('GET', '/api/limits/all', { token })).body.budgets
  assert.equal([budget.amount_usd, budget.hard, budget.warn], ['10', false, 50])

  // What one subject has goes to no other that is named after it.
  await page.getByRole('button', { name: 'New limit' }).click()
  await fill('For', 'all')
  await fill('At the same time', '3')
  await save.click()
  await page.getByText('all has limits already').waitFor()
  await fill('For', 'user:bob')
  await save.click()
  await closed()
  assert.equal(await limitsOf('user:bob'), [{ parallel: 3 }])
  await scene.call('DELETE', '/api/limits/user:bob', { token })
  await scene.call('DELETE', '/api/limits/all', { token })

  await page.getByRole('button', { name: 'New limit' }).click()
  await fill('For', 'user:bob')
  await fill('Budget in US dollars', '3')
  await save.click()
  await page.getByText('No price is known of free:f1: a budget refuses').waitFor()
  assert.is((await scene.call('GET', '/api/limits/user:bob', { token })).status, 404)
  await save.click()
  await closed()
  assert.equal(await limitsOf('user:bob'), ['3/month', {}])
  assert.equal(troubles, [])
})

test('budgets name their keys, and all keys are listed, beyond the first page of the API', async (scene) => {
  const { token } = scene.admin
  const { body: late } = await scene.call('POST', '/api/keys', {
    token,
    body: { name: 'the last of all', scopes: ['chat'], limits: { rpm: 7 } },
  })
  const visit = await logIn(scene, 'ada')
  const { page } = visit
  // As if there were thousands of them.
  await page.route('**/api/keys?**', async (route) => {
    const { keys, total } = (await scene.call('GET', '/api/keys', { token })).body
    const offset = Number(new URL(route.request().url()).searchParams.get('offset'))
    const many = Array.from({ length: 2500 }, (_, at) => ({ ...keys[0], id: `k${at}`, name: `key ${at}` }))
    await route.fulfill({ json: { keys: [...many, ...keys].slice(offset, offset + 1000), total } })
  })
  await goTo(visit, 'usage/budgets', 'Usage')
  await page.getByRole('cell', { name: 'Key the last of all' }).first().waitFor()
  assert.is(await page.getByText(late.id).count(), 0)
  await page.getByRole('link', { name: 'API keys' }).click()
  await page.getByText('the last of all').waitFor()
})

test.run()
