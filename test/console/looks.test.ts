// With --all only: a browser.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { packageFolder } from '../../src/app/package-folder.ts'
import { toolServerCommand } from '../helpers/mcp/stdio-server.ts'
import { axeFindings, contrast, standards } from './axe.ts'
import type { Visit } from './browser.ts'
import { readingFaults } from './reading-order.ts'
import { type Furnished, sceneSuite } from './scene.ts'
import { goTo, logIn } from './visits.ts'

/** The screenshots, for a person to look at. */
const folder = join(packageFolder('dist'), 'screenshots')
const viewports = [
  { width: 360, height: 740 },
  { width: 768, height: 1024 },
  { width: 1440, height: 900 },
]

interface Place {
  readonly name: string
  readonly place: string
  readonly heading: string | RegExp
  /** Brings the view into the state to photograph. */
  readonly prepare?: (visit: Visit) => Promise<void>
}

const test = sceneSuite('how the console looks', 240)

for (const viewport of viewports)
  test(`every view, ${viewport.width} pixels wide, in light and dark: complete, readable by machines, within the window`, async (scene) => {
    mkdirSync(folder, { recursive: true })
    const options = { viewport, colorScheme: 'light', reducedMotion: 'reduce' } as const
    const entrance = await scene.browser.open(scene.url, options)
    await entrance.page.getByRole('heading', { name: 'Log in' }).waitFor()
    await examine(entrance, 'login')
    const visit = await logIn(scene, 'ada', options)
    for (const { name, place, heading, prepare } of placesOf(scene)) {
      await goTo(visit, place, heading)
      await prepare?.(visit).catch(async (reason) => {
        await visit.page.screenshot({ path: join(folder, `failed-${name}.png`) })
        throw reason
      })
      await examine(visit, name)
      await visit.page.keyboard.press('Escape')
    }
    assert.equal(visit.troubles, [])
  })

test('in another language, 3,840 pixels wide: numbers, dates and distances in time are those of the browser', async (scene) => {
  const options = { viewport: { width: 3840, height: 2160 }, locale: 'de-DE', timezoneId: 'Asia/Tokyo' }
  const visit = await logIn(scene, 'ada', options)
  const { page, troubles } = visit
  const texts: Record<string, string> = {}
  for (const [name, place, heading, shown] of [
    ['now', 'now', 'Now', 'answers chats'],
    ['memories', `personas/${scene.persona}/memories`, 'Mia', 'Minka'],
    ['usage', 'usage', 'Usage', 'second-model'],
    ['keys', 'usage/keys', 'Usage', 'night job'],
    ['users', 'users', 'Users', '(you)'],
    ['voices', 'voices', 'Voices', 'Ryan'],
  ] as const) {
    await goTo(visit, place, heading)
    await page.getByText(shown).first().waitFor()
    texts[name] = await page.locator('main').innerText()
    await fits(page, name)
  }
  assert.match(texts['usage']!, /\d\d\d\.\d\d\d/, 'thousands with a point')
  assert.match(texts['usage']!, /\d,\d\d\s\$/, 'dollars behind the number')
  assert.match(texts['usage']!, /\d\d\.\d\d\.\d{4}/, 'days with points')
  assert.match(texts['memories']!, /vor \d+ (?:Sekunden|Minuten|Stunden)/)
  assert.match(texts['users']!, /\d\d\.\d\d\.\d{4}/)
  const size = Number(await page.evaluate(`parseFloat(getComputedStyle(document.body).fontSize)`))
  assert.ok(size >= 18, 'letters grow with the screen')
  assert.equal(troubles, [])
})

test.run()

/** Takes the picture in both themes, asks axe, and looks for content that runs out of the window. */
async function examine({ page }: Visit, name: string): Promise<void> {
  await fits(page, name)
  for (const [colorScheme, rules] of [
    ['dark', contrast],
    ['light', standards],
  ] as const) {
    await page.emulateMedia({ colorScheme })
    const picture = `${name}-${colorScheme}-${page.viewportSize()!.width}`
    await page.screenshot({ path: join(folder, `${picture}.png`) })
    assert.equal(await axeFindings(page, rules), [], picture)
  }
  assert.equal(await readingFaults(page), [], `the reading order of ${name}, ${page.viewportSize()!.width} pixels wide`)
}

async function fits(page: Page, name: string): Promise<void> {
  const overflow = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
  assert.ok(overflow <= 0, `${name} is ${overflow} px wider than the window`)
}

/** Waits until a text is there. */
function shows(text: string): NonNullable<Place['prepare']> {
  return ({ page }) => page.getByText(text).first().waitFor()
}

function placesOf({ call, installation, persona, admin: { token } }: Furnished): readonly Place[] {
  return [
    {
      name: 'chat',
      place: `personas/${persona}`,
      heading: 'Mia',
      async prepare({ page }) {
        await page.getByLabel('Message').fill('What is the cat called, and where does Minka sleep?')
        await page.keyboard.press('Enter')
        await page.getByRole('button', { name: /memor(?:y|ies) went in/ }).click()
        await page
          .getByText(/likely to help/)
          .first()
          .waitFor()
        await page.getByText('Take two grams').waitFor()
      },
    },
    {
      name: 'now',
      place: 'now',
      heading: 'Now',
      async prepare({ page }) {
        await call('POST', '/api/chat', { token, body: { messages: [{ role: 'user', content: 'fail' }] } })
        await page.getByRole('link', { name: 'second-model' }).first().waitFor()
      },
    },
    {
      name: 'story',
      place: 'now',
      heading: 'Now',
      async prepare({ page }) {
        await page.getByRole('link', { name: 'second-model' }).first().click()
        await page.getByText('What happened').waitFor()
      },
    },
    {
      name: 'chat',
      place: 'chat',
      heading: 'Chat',
      async prepare({ page }) {
        await page.getByLabel('Message').fill('How do I make tea?')
        await page.keyboard.press('Enter')
        await page.getByText('The answer is complete').waitFor({ state: 'attached' })
      },
    },
    { name: 'personas', place: 'personas', heading: 'Personas' },
    { name: 'memories', place: `personas/${persona}/memories`, heading: 'Mia', prepare: shows('Minka') },
    {
      name: 'search',
      place: `personas/${persona}/memories`,
      heading: 'Mia',
      async prepare({ page }) {
        await page.getByLabel('Search the memories').fill('what is the cat called')
        await page
          .getByText(/likely to help/)
          .first()
          .waitFor()
      },
    },
    {
      name: 'learned',
      place: `personas/${persona}/learned`,
      heading: 'Mia',
      prepare: async ({ page }) => page.getByRole('button', { name: 'Undo' }).first().waitFor(),
    },
    {
      name: 'keeping',
      place: `personas/${persona}/keeping`,
      heading: 'Mia',
      prepare: async ({ page }) => page.getByRole('button', { name: 'Restore' }).first().waitFor(),
    },
    {
      name: 'usage',
      place: 'usage',
      heading: 'Usage',
      prepare: async ({ page }) => page.locator('.u-legend').first().waitFor(),
    },
    {
      name: 'requests',
      place: 'usage/requests?outcome=failed%2Cbroken',
      heading: 'Usage',
      prepare: async ({ page }) => page.getByRole('cell', { name: 'failed' }).first().waitFor(),
    },
    { name: 'budgets', place: 'usage/budgets', heading: 'Usage', prepare: shows('left of') },
    { name: 'keys', place: 'usage/keys', heading: 'Usage', prepare: shows('night job') },
    {
      name: 'new-key',
      place: 'usage/keys',
      heading: 'Usage',
      prepare: async ({ page }) => page.getByRole('button', { name: 'New key' }).click(),
    },
    { name: 'prices', place: 'usage/prices', heading: 'Usage', prepare: shows('custom') },
    {
      name: 'forgotten',
      place: `personas/${persona}/forgotten`,
      heading: 'Mia',
      prepare: shows('Nothing was forgotten'),
    },
    { name: 'service', place: 'service', heading: 'Service', prepare: shows('To pull') },
    { name: 'backups', place: 'service/backups', heading: 'Service', prepare: shows('No backup yet') },
    { name: 'settings', place: 'service/settings', heading: 'Service', prepare: shows('api.port') },
    {
      name: 'setting',
      place: 'service/settings',
      heading: 'Service',
      async prepare({ page }) {
        await page.getByRole('button', { name: 'Change audit.keep_days' }).click()
        await page.getByLabel('Value', { exact: true }).fill('many')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByRole('alert').waitFor()
      },
    },
    {
      name: 'tools',
      place: 'service/tools',
      heading: 'Service',
      async prepare({ page }) {
        const [command, ...args] = toolServerCommand
        const { list } = await installation.app.toolServers()
        list.set('household', { command, args })
        await page.reload()
        await page.getByRole('button', { name: 'Show the tools of household' }).click()
        await page.getByText('echo', { exact: true }).waitFor()
      },
    },
    {
      name: 'plugins',
      place: 'plugins',
      heading: 'Plugins and models',
      prepare: async ({ page }) => page.getByRole('link', { name: 'Custom' }).waitFor(),
    },
    { name: 'plugin', place: 'plugins/custom', heading: 'Custom', prepare: shows('other-model') },
    {
      name: 'install',
      place: 'plugins',
      heading: 'Plugins and models',
      async prepare({ page }) {
        await page.getByRole('button', { name: 'Install' }).click()
        await page
          .getByLabel('Document')
          .fill(
            '{\n  "id": "Wrong Id",\n  "name": "Mine",\n  "type": "chat",\n  "endpoint": "ftp://x",\n  "auth": { "header": "Authorization" },\n  "model_map": []\n}',
          )
        await page.getByRole('button', { name: 'Install' }).last().click()
        await page.getByRole('alert').waitFor()
      },
    },
    {
      name: 'voices',
      place: 'voices',
      heading: 'Voices',
      prepare: async ({ page }) => page.getByRole('button', { name: 'Listen to Ryan' }).waitFor(),
    },
    { name: 'users', place: 'users', heading: 'Users', prepare: shows('(you)') },
    { name: 'audit', place: 'audit', heading: 'Audit', prepare: shows('Registered') },
  ]
}
