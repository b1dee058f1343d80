// With --all only: a browser.
import * as assert from 'uvu/assert'
import { closing } from '../helpers/disposal.ts'
import { goodPassword, openDaemon, type TestDaemon } from '../helpers/program/daemon.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { completion, completionEvents, json, openStandIn, type StandIn } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'
import { haveBrowser, openBrowser, type Visit } from './browser.ts'
import { type Device, devices, handOf, optionsOf } from './hands.ts'
import { endLoginAt, failAtFirst, slowAt } from './visits.ts'

const inner = suite('the first visit to the console')
const test = haveBrowser ? inner : inner.skip
const key = 'sk-of-the-first-visit-0123456789'

/** The console of an installation without users and keys, whose one provider takes one key. */
async function withFirstVisit(
  device: Device,
  work: (visit: Visit, daemon: TestDaemon, provider: StandIn) => Promise<void>,
): Promise<void> {
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
  await using browser = closing(await openBrowser())
  const visit = await browser.open(daemon.url, optionsOf(device))
  await work(visit, daemon, provider)
  assert.equal(
    visit.troubles.filter((trouble) => !/50[02]|401|ERR_FAILED/.test(trouble)),
    [],
  )
}

for (const device of devices)
  test(`leads from nothing to an answer without a terminal, by ${device}: administrator, key, question`, () =>
    withFirstVisit(device, async (visit, daemon, provider) => {
      const { page } = visit
      const { fill, press, choose, sees } = handOf(visit, device)
      await fill('Password', goodPassword)
      await press('Create the administrator')
      await sees('Connect a provider')

      // A wrong key is tried, said to be wrong, and not kept.
      await choose('Provider', 'Custom')
      await fill('Key', 'sk-wrong')
      await press('Connect')
      await page.getByRole('alert').getByText('refused the key').waitFor()
      assert.is(daemon.installation.app.plugins.get('custom').state, 'key_missing')
      await fill('Key', key)
      await press('Connect')
      await fill('Message', 'What is a monad?')
      await press('Send')
      await sees('monoid')
      await page.waitForURL(/#\/chat\/.+/)

      // The conversation has an address, and is in the list; a second question goes on with it.
      await page.reload()
      await sees('monoid')
      await fill('Message', 'And in French?')
      await press('Send')
      await page.getByText('The answer is complete').waitFor({ state: 'attached' })
      assert.is(JSON.parse(provider.received.at(-1)!.body).messages.length, 3)
      assert.not.ok((await page.content()).includes(key), 'the page does not hold the key')
    }))

test('goes on after each fault, a slow answer and an ended login at each of its steps', () =>
  withFirstVisit('desktop', async (visit) => {
    const { page } = visit
    const { fill, press, choose, sees } = handOf(visit, 'desktop')
    const submit = (field: string) => () => page.getByLabel(field, { exact: true }).press('Enter')
    await fill('Password', goodPassword)
    await failAtFirst(page, '**/api/auth/setup', submit('Password'))
    await slowAt(page, '**/api/auth/setup', submit('Password'))
    await sees('Connect a provider')
    await choose('Provider', 'Custom')
    const steps = ['custom/key', 'custom/test', 'activate/custom']
    for (const step of steps) {
      // Since the second step the key is kept, and need not be typed again.
      if (step === 'activate/custom') await sees('It has a key already')
      else await fill('Key', key)
      await failAtFirst(page, `**/api/plugins/${step}`, submit('Key'))
      await endLoginAt(visit, `**/api/plugins/${step}`, 'admin', submit('Key'))
      await choose('Provider', 'Custom')
    }
    await fill('Key', key)
    for (const step of steps) await slowAt(page, `**/api/plugins/${step}`, async () => {})
    await press('Connect')
    await fill('Message', 'What is a monad?')
    await submit('Message')()
    await sees('monoid')
  }))

inner.run()
