import { mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { packageFolder } from '../../src/app/package-folder.ts'
import { suite } from '../helpers/suite.ts'
import { haveBrowser, type Visit } from './browser.ts'
import { type Furniture, furnish } from './furniture.ts'
import { type Scene, withScene } from './scene.ts'
import { goTo, logIn } from './visits.ts'

/** The screenshots, for a person to look at. */
const folder = join(packageFolder('dist'), 'screenshots')
const widths = [
  [360, 740],
  [1440, 900],
] as const
const themes = ['light', 'dark'] as const

interface Place {
  readonly name: string
  readonly place: string
  readonly heading: string | RegExp
  /** Brings the view into the state to photograph. */
  readonly prepare?: (visit: Visit) => Promise<void>
}

const test = suite('how the console looks')

if (haveBrowser)
  test('every view in light and dark, on a phone and on a desk: complete, readable by machines, within the window', () =>
    withScene(async (scene) => {
      const furniture = await furnish(scene)
      mkdirSync(folder, { recursive: true })
      for (const [width, height] of widths)
        for (const colorScheme of themes) {
          const entrance = await scene.browser.open(scene.url, { viewport: { width, height }, colorScheme })
          await entrance.page.getByRole('heading', { name: 'Log in' }).waitFor()
          await examine(entrance, `login-${colorScheme}-${width}`)
          await entrance.context.close()
          const visit = await logIn(scene, 'ada', { viewport: { width, height }, colorScheme })
          for (const { name, place, heading, prepare } of placesOf(scene, furniture)) {
            await goTo(visit, place, heading)
            await prepare?.(visit).catch(async (reason) => {
              await visit.page.screenshot({ path: join(folder, `failed-${name}.png`) })
              throw reason
            })
            await examine(visit, `${name}-${colorScheme}-${width}`)
            await visit.page.keyboard.press('Escape')
          }
          assert.equal(visit.troubles, [])
          await visit.context.close()
        }
    }))

test.run()

/** Takes the picture, asks axe, and looks for content that runs out of the window. */
async function examine({ page }: Visit, name: string): Promise<void> {
  await page.screenshot({ path: join(folder, `${name}.png`) })
  const overflow = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
  assert.ok(overflow <= 0, `${name} is ${overflow} px wider than the window`)
  assert.equal(await axeFindings(page), [], name)
}

/**
 * The findings of axe-core against WCAG 2.2 AA. The page's policy takes no script in markup: it is evaluated by the
 * debugger.
 */
async function axeFindings(page: Visit['page']): Promise<readonly string[]> {
  const { source } = createRequire(import.meta.url)('axe-core') as { source: string }
  await page.evaluate(source)
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: {
        run(
          options: object,
        ): Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }>
      }
    }
    const { violations } = await axe.run({
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    })
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
    )
  })
}

function placesOf({ call }: Scene, { persona, admin: { token } }: Furniture): readonly Place[] {
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
    { name: 'personas', place: 'personas', heading: 'Personas' },
    {
      name: 'memories',
      place: `personas/${persona}/memories`,
      heading: 'Mia',
      prepare: async ({ page }) => page.getByText('Minka').first().waitFor(),
    },
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
      name: 'budgets',
      place: 'usage/budgets',
      heading: 'Usage',
      prepare: async ({ page }) => page.getByText('left of').first().waitFor(),
    },
    {
      name: 'keys',
      place: 'usage/keys',
      heading: 'Usage',
      prepare: async ({ page }) => page.getByText('night job').waitFor(),
    },
    {
      name: 'new-key',
      place: 'usage/keys',
      heading: 'Usage',
      prepare: async ({ page }) => page.getByRole('button', { name: 'New key' }).click(),
    },
    {
      name: 'plugins',
      place: 'plugins',
      heading: 'Plugins and models',
      prepare: async ({ page }) => page.getByRole('link', { name: 'Custom' }).waitFor(),
    },
    {
      name: 'plugin',
      place: 'plugins/custom',
      heading: 'Custom',
      prepare: async ({ page }) => page.getByText('other-model').waitFor(),
    },
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
        await page.getByRole('button', { name: 'Line 2' }).waitFor()
      },
    },
    {
      name: 'voices',
      place: 'voices',
      heading: 'Voices',
      prepare: async ({ page }) => page.getByRole('button', { name: 'Listen to Ryan' }).waitFor(),
    },
    {
      name: 'users',
      place: 'users',
      heading: 'Users',
      prepare: async ({ page }) => page.getByText('ada@example.org').or(page.getByText('(you)')).first().waitFor(),
    },
    {
      name: 'audit',
      place: 'audit',
      heading: 'Audit',
      prepare: async ({ page }) => page.getByText('Registered').first().waitFor(),
    },
  ]
}
