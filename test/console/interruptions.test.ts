// With --all only: a browser.
import * as assert from 'uvu/assert'
import { closing } from '../helpers/disposal.ts'
import { goodPassword } from '../helpers/program/daemon.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { completionEvents, openStandIn } from '../helpers/providers/fake-provider.ts'
import { openCuttableWay } from './cuttable.ts'
import { sceneSuite } from './scene.ts'
import { endLoginAt, failAtFirst, goTo, logIn, slowAt } from './visits.ts'

const test = sceneSuite('a console whose server, login or network goes away')

test('an answer that breaks off says so and can be asked for again; a view recovers when the server is back', async (scene) => {
  const { persona } = scene
  await using way = closing(await openCuttableWay(scene.url))
  const visit = await logIn({ ...scene, url: way.url }, 'ada')
  const { page } = visit
  await goTo(visit, `personas/${persona}`, 'Mia')
  await page.getByLabel('Message').fill('go on')
  await page.keyboard.press('Enter')
  await page.getByText('Word after word').first().waitFor()
  way.cut()
  const answer = page.locator('.message.assistant').last()
  await answer.getByRole('alert').waitFor()
  assert.match(await answer.innerText(), /Word after word[\s\S]*The answer broke off and is incomplete/)
  await page.evaluate(`location.hash = '#/now'`)
  await page.getByRole('alert').getByText('The server does not answer').waitFor()
  way.open()
  await page.getByRole('alert').waitFor({ state: 'detached' })

  way.cut()
  await page.evaluate(`location.hash = '#/voices'`)
  await page.getByText('This part of the page cannot be fetched').waitFor()
  way.open()
  await page.getByRole('button', { name: 'Load the page again' }).click()
  await page.getByRole('button', { name: 'Listen to Ryan' }).waitFor()

  // The page comes from the browser's cache, the server does not answer.
  await page.route('**/api/**', (route) => route.abort())
  await page.reload()
  await page.getByRole('alert').getByText('The server does not answer').waitFor()
  await page.unroute('**/api/**')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('button', { name: 'Listen to Ryan' }).waitFor()
})

test('a question with a file goes through after each fault, and after a login that ended while it was sent', async (scene) => {
  const visit = await logIn(scene, 'ada')
  const { page } = visit
  await goTo(visit, 'chat', 'Chat')
  const file = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Minka sleeps here.') }
  await page.getByLabel('Add files', { exact: true }).setInputFiles(file)
  await page.getByText('its text, 18 characters').waitFor()
  await page.getByLabel('Message').fill('Where does she sleep?')
  const again = page.getByRole('button', { name: 'Try again' })
  await failAtFirst(page, '**/api/chat', async () => {
    if (await again.isVisible()) await again.click()
    else await page.keyboard.press('Enter')
  })
  await endLoginAt(visit, '**/api/chat', 'ada', () => again.click())
  await page.getByRole('heading', { name: 'Chat' }).waitFor()
  assert.is(await page.getByLabel('Message').inputValue(), 'Where does she sleep?')
  await page.getByText('its text, 18 characters').waitFor()
  await slowAt(page, '**/api/chat', () => page.getByLabel('Message').press('Enter'))
  await page.getByRole('heading', { name: 'Tea for two' }).waitFor()
  assert.match(scene.provider.received.at(-1)!.body, 'Minka sleeps here')
})

test('an answer of 5 MB is shown to its end, and the page can be used meanwhile', async (scene) => {
  const line = `${'word '.repeat(19_999)}\n\n`
  const pieces = Array.from({ length: 50 }, () => line.match(/[\s\S]{1,2000}/g)!).flat()
  await using writer = await openStandIn((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(completionEvents([...pieces, 'and this is the end']).join(''))
  })
  const { admin } = scene
  await scene.installation.app.plugins.install(pluginAt(writer.url, { id: 'writer', model_map: ['w'] }))
  for (const subject of ['all', 'user:ada'])
    await scene.call('DELETE', `/api/limits/${subject}`, { token: admin.token })
  const body = { name: 'Writer', model: 'writer:w' }
  const { id } = (await scene.call('POST', '/api/personas', { token: admin.token, body })).body
  const visit = await logIn(scene, 'ada', { viewport: { width: 360, height: 740 } })
  const { page, troubles } = visit
  await goTo(visit, `personas/${id}`, 'Writer')
  await page.getByLabel('Message').fill('write')
  await page.keyboard.press('Enter')
  await page.getByLabel('Message').fill('the next one')
  await page.getByText('and this is the end').waitFor({ timeout: 60_000 })
  await page.getByRole('button', { name: 'Send' }).waitFor()
  assert.is(await page.getByLabel('Message').inputValue(), 'the next one')
  const shown = Number(await page.evaluate(`document.querySelector('.message.assistant').textContent.length`))
  assert.ok(shown > 4_990_000, `${shown} characters are shown`)
  const overflow = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
  assert.ok(overflow <= 0, `${overflow} px wider than the window`)
  assert.equal(troubles, [])
})

test('a sentence that the server refuses to speak leaves no audio device open', async (scene) => {
  const visit = await logIn(scene, 'ada')
  const { page } = visit
  await page.addInitScript(`
        window.contexts = []
        window.AudioContext = class extends AudioContext {
          constructor() {
            super()
            contexts.push(this)
          }
        }`)
  await page.reload()
  await page.getByRole('navigation', { name: 'Views' }).waitFor()
  await goTo(visit, 'voices', 'Voices')
  await page.route('**/api/speech', (route) =>
    route.fulfill({ status: 429, json: { error: 'Too many sentences at a time', code: 'busy' } }),
  )
  await page.getByRole('button', { name: 'Listen to Ryan' }).click()
  await page.getByRole('alert').getByText('Too many sentences at a time').waitFor()
  await page.waitForFunction(`contexts.length === 1 && contexts[0].state === 'closed'`)
})

// The last: it changes the password.
test('a logout in another tab and a login that has ended lead to the entrance, and nothing of the person stays', async (scene) => {
  const { persona, admin } = scene
  const visit = await logIn(scene, 'ada')
  const { page, context } = visit
  await goTo(visit, `personas/${persona}/memories`, 'Mia')
  await page.getByText('Minka').first().waitFor()
  const tab = await context.newPage()
  await tab.goto(`${scene.url}/console`)
  await tab.getByRole('button', { name: 'Log out' }).click()
  await page.getByRole('heading', { name: 'Log in' }).waitFor()
  assert.not.match(await page.content(), /Mia|Minka|ada/)
  assert.equal(await context.cookies(), [])

  // Both tabs stand at the entrance: the login of one is that of the other.
  await page.getByLabel('User name').fill('ada')
  await page.getByLabel('Password').fill(goodPassword)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Mia' }).waitFor()
  await tab.getByRole('heading', { name: 'Now' }).waitFor()

  // The password was changed elsewhere, which ends this login.
  const body = { current_password: goodPassword, new_password: `${goodPassword}2` }
  const changed = await scene.call('POST', '/api/auth/change-password', { token: admin.token, body })
  assert.is(changed.status, 200)
  await tab.getByText('You are logged out').waitFor()
  await page.evaluate(`location.hash = '#/usage'`)
  await page.getByRole('heading', { name: 'Log in' }).waitFor()
  assert.not.match(await page.content(), /Mia|Minka/)
})

test.run()
