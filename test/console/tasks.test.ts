// With --all only: a browser.
import * as assert from 'uvu/assert'
import { closing } from '../helpers/disposal.ts'
import { openHttpToolServer } from '../helpers/mcp/http-server.ts'
import { toolServerCommand } from '../helpers/mcp/stdio-server.ts'
import type { Visit } from './browser.ts'
import { devices, type Hand, handOf, optionsOf } from './hands.ts'
import { type Furnished, sceneSuite } from './scene.ts'
import { goTo, logIn } from './visits.ts'

interface Person extends Hand {
  readonly scene: Furnished
  readonly visit: Visit
  readonly page: Visit['page']
  /** Unlike that of the other devices. */
  readonly number: number
  /** Types a question and sends it. */
  ask(text: string): Promise<void>
}

/** Pixels that the page, or a table in it, is wider than its place. */
const widest = `Math.max(document.documentElement.scrollWidth - innerWidth,
  ...[...document.querySelectorAll('.table-frame')].map((e) => e.scrollWidth - e.clientWidth))`

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** What people come for. The first, from nothing to an answer, is in `first-visit.test.ts`. */
const tasks: Readonly<Record<string, (person: Person) => Promise<void>>> = {
  async 'stop an answer, and find question, beginning and draft again after a reload'(person) {
    const { visit, page, ask, press, sees, fill } = person
    await goTo(visit, 'chat', 'Chat')
    await ask('go on, please')
    await sees('Word after word')
    await press('Stop')
    await sees('The answer was stopped')
    await ask('tea?')
    await sees('Tea for two')
    await page.waitForURL(/#\/chat\/.+/)
    await fill('Message', 'a draft')
    await page.reload()
    await sees('Word after word')
    assert.is(await page.getByLabel('Message').inputValue(), 'a draft')
  },
  async 'ask twice about a picture and a text'({ visit, page, press, ask, sees, scene }) {
    await goTo(visit, 'chat', 'Chat')
    const chooser = page.waitForEvent('filechooser')
    await press('Add pictures and files')
    await (await chooser).setFiles([
      { name: 'cat.png', mimeType: 'image/png', buffer: Buffer.from(pixel, 'base64') },
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Minka sleeps here.') },
    ])
    await sees('its text, 18 characters')
    await ask('Who is it?')
    await sees('Tea for two')
    await ask('And which colour?')
    await page.locator('.message-foot').nth(1).waitFor()
    assert.match(scene.provider.received.at(-1)!.body, /data:image\/png[\s\S]*Minka sleeps here/)
  },
  async 'find an earlier conversation by its words, and give it a name'({
    visit,
    page,
    press,
    fill,
    sees,
    ask,
    number,
  }) {
    await goTo(visit, 'chat', 'Chat')
    await ask(`About quokkas${number}`)
    await sees('Tea for two')
    await page.reload()
    await page.locator('.conversations summary').waitFor()
    if (!(await page.getByLabel('Search in their texts').isVisible())) await press('Earlier conversations')
    await fill('Search in their texts', `quokkas${number}`)
    await page.locator('mark', { hasText: `quokkas${number}` }).waitFor()
    await fill('Search in their texts', '')
    await press(new RegExp(`^Rename, pin, save or delete .*quokkas${number}`))
    const download = page.waitForEvent('download')
    await press('Save as Markdown')
    assert.match((await download).suggestedFilename(), /quokkas\d+\.md$/)
    await fill('Name', `Animals ${number}`)
    await press('Rename')
    await page.getByRole('link', { name: `Animals ${number}` }).waitFor()
  },
  async 'limit a key that exists, and see what rotating it means before it is done'({
    visit,
    press,
    fill,
    sees,
    number,
  }) {
    await goTo(visit, 'usage/keys', 'Usage')
    await press('Limit night job')
    await fill('Requests a minute', String(number))
    await press('Save')
    await visit.page.getByText(`${number} requests a minute`).first().waitFor({ state: 'attached' })
    await press('Rotate night job')
    await sees('The old one works for 24 hours more')
    await press('Cancel')
  },
  async 'see what cost most, and the requests behind it'({ visit, page, press, choose }) {
    await goTo(visit, 'usage', 'Usage')
    await choose('By', 'key')
    await press('Cost')
    await press('editor on the laptop')
    await page.waitForURL(/usage\/requests\?.*key=/)
    await page.getByText('editor on the laptop').filter({ visible: true }).nth(1).waitFor()
  },
  async 'see why a request failed, and who answered in its place'({ visit, page, press, choose, sees, scene }) {
    const { token } = scene.admin
    await scene.call('POST', '/api/chat', { token, body: { messages: [{ role: 'user', content: 'fail' }] } })
    await goTo(visit, 'now', 'Now')
    await press('second-model')
    await sees('The model is overloaded')
    await page.keyboard.press('Escape')
    await goTo(visit, 'usage/requests', 'Usage')
    await choose('Outcome', 'failed or broken off')
    await page.waitForURL(/outcome=failed/)
    await page.locator('tbody tr').first().waitFor()
  },
  async 'tell slow and failed from empty'({ visit, page, choose, sees }) {
    let answer = () => {}
    const asked = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route('**/api/users*', (route) => void asked.then(() => route.continue()))
    await goTo(visit, 'users', 'Users')
    await sees('Loading …')
    assert.is(await page.getByText('0 users').count(), 0)
    answer()
    await sees('(you)')
    await page.route('**/api/usage?by=key*', (route) => route.fulfill({ status: 500, json: { error: 'It broke' } }))
    await goTo(visit, 'usage', 'Usage')
    await choose('By', 'key')
    await sees('It broke')
    assert.is(await page.getByRole('table', { name: 'Usage by key' }).count(), 0)
  },
  async 'leave a dialog without losing what was typed'({ visit, page, press, fill, sees }) {
    await goTo(visit, 'personas', 'Personas')
    await press('New persona')
    await fill('System prompt', 'You are patient.')
    await page.keyboard.press('Escape')
    await sees('What you typed here is not saved.')
    await press('Keep writing')
    assert.is(await page.getByLabel('System prompt').inputValue(), 'You are patient.')
    await page.keyboard.press('Escape')
    await press('Discard it')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  },
  async 'read a table and copy code of an answer'({ visit, page, ask, press }) {
    await visit.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await goTo(visit, 'chat', 'Chat')
    await ask('tea?')
    await page.getByRole('cell', { name: 'green' }).waitFor()
    await press('Copy code')
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    assert.is(await page.evaluate('navigator.clipboard.readText()'), 'aichat chat "More tea?"\n')
  },
  async 'change a setting while the service runs'({ visit, page, press, fill, sees, number, scene }) {
    await goTo(visit, 'service/settings', 'Service')
    await fill('Filter Settings', 'audit.keep')
    await press('Change audit.keep_days')
    await fill('Value', 'many')
    await press('Save')
    await sees('must be a whole number')
    await fill('Value', String(number))
    await press('Save')
    await page.getByRole('row').filter({ hasText: 'audit.keep_days' }).getByText(String(number)).waitFor()
    assert.is(scene.installation.app.settings.auditDays, number)
    await fill('Filter Settings', 'api.port')
    await sees('Needs a restart')
    assert.is(await page.getByRole('button', { name: 'Change api.port' }).count(), 0)
  },
  async 'see the tools of a server, and why another does not start'({ visit, press, sees, scene }) {
    const { list } = await scene.installation.app.toolServers()
    const [command, ...args] = toolServerCommand
    list.set('tools', { command, args })
    list.set('broken', { command: '/no/such/program' })
    await goTo(visit, 'service/tools', 'Service')
    await press('Show the tools of tools')
    await sees('echo')
    await press('Show the tools of broken')
    await sees('the program is not there')
  },
  async 'add a tool server by its address, allow a tool, and have a persona use it'(person) {
    const { visit, page, press, fill, sees, number, scene } = person
    await using http = closing(await openHttpToolServer())
    const name = `tracker${number}`
    await goTo(visit, 'service/tools', 'Service')
    await press('Add a server')
    await fill('Name', name)
    await fill('Address', http.url)
    await fill('Headers (optional)', 'Authorization: Bearer hidden')
    await press('Add')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await press(`Show the tools of ${name}`)
    await press('Ask the user about echo')
    await page.locator('td[data-name="Chats here"]', { hasText: 'asked about' }).waitFor()
    assert.is(http.received.at(-1)!.authorization, 'Bearer hidden')
    await goTo(visit, `personas/${scene.persona}/keeping`, 'Mia')
    await press('Edit')
    await page.getByRole('dialog').getByLabel(name).press('Space')
    await press('Save')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const body = { name: 'Mia', model: 'custom-model' }
    const saved = await scene.call('PUT', `/api/personas/${scene.persona}`, { token: scene.admin.token, body })
    assert.ok(saved.body.mcp_servers.includes(name))
    await goTo(visit, 'service/tools', 'Service')
    await press(`Edit ${name}`)
    await fill('Address', 'https://other.example/mcp')
    await press('Save')
    await sees('Another host does not get the headers of the earlier one')
    await press('Cancel')
    await press(`Remove ${name}`)
    await press('Remove')
    await page.getByText(name).first().waitFor({ state: 'detached' })
  },
  async 'begin a budget anew'({ visit, press, sees }) {
    await goTo(visit, 'usage/budgets', 'Usage')
    await press('Begin the budgets of User ada anew')
    await press('Begin anew')
    await sees('US$20.00 left of US$20.00')
  },
}

const test = sceneSuite('what people come to the console for')

for (const [at, device] of devices.entries())
  test(`each task is done by ${device}`, async (scene) => {
    await scene.call('DELETE', '/api/limits/all', { token: scene.admin.token })
    const visit = await logIn(scene, 'ada', optionsOf(device))
    const { page } = visit
    const hand = handOf(visit, device)
    const ask = async (text: string) => {
      await hand.fill('Message', text)
      await page.keyboard.press('Enter')
    }
    for (const [task, work] of Object.entries(tasks))
      try {
        await work({ ...hand, scene, visit, page, number: 11 + at, ask })
        assert.ok(Number(await page.evaluate(widest)) <= 0, 'nothing is reached by scrolling sideways')
      } catch (reason) {
        throw new Error(`To ${task}: ${reason}`, { cause: reason })
      }
    assert.equal(
      visit.troubles.filter((text) => !/status of 50/.test(text)),
      [],
    )
  })

test.run()
