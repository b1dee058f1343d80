// With --all only: a browser.
import * as assert from 'uvu/assert'
import { goodPassword, openDaemon } from '../helpers/program/daemon.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { completion, completionEvents, json, openStandIn } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'
import { haveBrowser, openBrowser } from './browser.ts'
import { failAtFirst } from './visits.ts'

const inner = suite('the first visit to the console')
const test = haveBrowser ? inner : inner.skip
const key = 'sk-of-the-first-visit-0123456789'

test('leads from nothing to an answer without a terminal: administrator, key, question', async () => {
  await using provider = await openStandIn(({ headers, body }, response) => {
    if (!JSON.stringify(headers).includes(key)) return json(response, 401, { error: { message: 'Incorrect API key' } })
    if (!JSON.parse(body).stream) return json(response, 200, completion('ok'))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(completionEvents(['A monad is ', 'a **monoid**.']).join(''))
  })
  await using daemon = await openDaemon({ OLLAMA_HOST: '127.0.0.1:9' })
  await daemon.installation.app.plugins.install(
    pluginAt(provider.url, {
      name: 'Custom',
      auth: { header: 'Authorization', prefix: 'Bearer ', key_env: 'CUSTOM_API_KEY' },
    }),
  )
  const browser = await openBrowser()
  try {
    const { page, troubles } = await browser.open(daemon.url)
    await page.getByLabel('Password').fill(goodPassword)
    const submit = (field: string) => () => page.getByLabel(field).press('Enter')
    await failAtFirst(page, '**/api/auth/setup', submit('Password'))
    await submit('Password')()
    await page.getByRole('heading', { name: 'Connect a provider' }).waitFor()

    // A wrong key is tried, said to be wrong, and not kept.
    await page.getByLabel('Provider').selectOption('custom')
    await page.getByLabel('Key').fill('sk-wrong')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('refused the key').waitFor()
    assert.is(daemon.installation.app.plugins.get('custom').state, 'key_missing')

    await page.getByLabel('Key').fill(key)
    for (const step of ['key', 'test']) await failAtFirst(page, `**/api/plugins/custom/${step}`, submit('Key'))
    await failAtFirst(page, '**/api/plugins/activate/custom', submit('Key'))
    await submit('Key')()
    await page.getByLabel('Message').fill('What is a monad?')
    await page.keyboard.press('Enter')
    await page.getByText('monoid').waitFor()
    await page.waitForURL(/#\/chat\/.+/)

    // The conversation has an address, and is in the list; a second question goes on with it.
    await page.reload()
    await page.getByText('monoid').waitFor()
    await page.getByLabel('Message').fill('And in French?')
    await page.keyboard.press('Enter')
    await page.getByText('And in French?').waitFor()
    await page.getByText('The answer is complete').waitFor({ state: 'attached' })
    assert.is(JSON.parse(provider.received.at(-1)!.body).messages.length, 3)
    assert.not.ok((await page.content()).includes(key), 'the page does not hold the key')
    assert.equal(
      troubles.filter((trouble) => !/50[02]|401|ERR_FAILED/.test(trouble)),
      [],
    )
  } finally {
    await browser.close()
  }
})

inner.run()
