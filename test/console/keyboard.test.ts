import * as assert from 'uvu/assert'
import { goodPassword } from '../daemon.ts'
import { suite } from '../suite.ts'
import { haveBrowser, type Visit } from './browser.ts'
import { withScene } from './scene.ts'

/** Presses of Tab within which anything in a view is reached. */
const mostTabs = 80

const test = suite('the console by keyboard alone')

if (haveBrowser)
  test('setup, a persona, a chat that is stopped, a memory, a key and the way out, without a pointer', () =>
    withScene(async ({ browser, url }) => {
      const visit = await browser.open(url)
      const { page } = visit
      const { keyboard } = page
      await page.getByRole('heading', { name: 'Set up aichat' }).waitFor()
      assert.is(await focused(visit), 'User name', 'the first field has the focus')
      await tabTo(visit, 'Password')
      await keyboard.type(goodPassword)
      await keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Now' }).waitFor()

      await keyboard.press('Tab')
      assert.is(await focused(visit), 'Skip to the content')
      await tabTo(visit, 'Personas')
      await keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'Personas' }).waitFor()
      await tabTo(visit, 'New persona')
      await keyboard.press('Enter')
      await page.getByRole('dialog').waitFor()
      assert.is(await focused(visit), 'Name')
      for (let times = 0; times < 30; times++) {
        await keyboard.press('Tab')
        assert.ok(
          await page.evaluate(`document.activeElement === document.body || !!document.activeElement.closest('dialog')`),
        )
      }
      await keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      assert.is(await focused(visit), 'New persona', 'the focus goes back to where it was')
      await keyboard.press('Enter')
      await page.getByRole('dialog').waitFor()
      await keyboard.type('Mia')
      await tabTo(visit, 'Model')
      await keyboard.type('custom-model')
      await keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'Mia' }).waitFor()

      await tabTo(visit, 'Message')
      await keyboard.type('My cat is called Minka, go on')
      await keyboard.press('Enter')
      await page.getByText('Word after word').waitFor()
      await keyboard.press('Escape')
      await page.getByText('stopped').waitFor()

      await tabTo(visit, 'Memories', 'Shift+Tab')
      await keyboard.press('Enter')
      await tabTo(visit, 'Add')
      await keyboard.press('Enter')
      await page.getByRole('dialog').waitFor()
      await tabTo(visit, 'Text')
      await keyboard.type('The cat sleeps on the printer.')
      await tabTo(visit, 'Add')
      await keyboard.press('Enter')
      await page
        .getByRole('button', { name: /sleeps on the printer/ })
        .first()
        .waitFor()
      await tabTo(visit, /sleeps on the printer/)
      await keyboard.press('Enter')
      await tabTo(visit, 'Delete for good')
      await keyboard.press('Enter')
      await page.getByRole('button', { name: /sleeps on the printer/ }).waitFor({ state: 'detached' })

      await tabTo(visit, 'Usage', 'Shift+Tab')
      await keyboard.press('Enter')
      await tabTo(visit, 'API keys')
      await keyboard.press('Enter')
      await tabTo(visit, 'New key')
      await keyboard.press('Enter')
      await page.getByRole('dialog').waitFor()
      await keyboard.type('by keyboard')
      await keyboard.press('Enter')
      await page.locator('code.secret').waitFor()
      await tabTo(visit, 'Done')
      await keyboard.press('Enter')
      await page.getByRole('row').filter({ hasText: 'by keyboard' }).waitFor()

      await tabTo(visit, 'Log out', 'Shift+Tab')
      await keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Log in' }).waitFor()
      assert.equal(visit.troubles, [])
    }))

test.run()

/** Presses Tab until what has the focus is called so. */
async function tabTo(visit: Visit, name: string | RegExp, key = 'Tab'): Promise<void> {
  const seen: string[] = []
  for (let times = 0; times < mostTabs; times++) {
    const found = await focused(visit)
    if (typeof name === 'string' ? found === name : name.test(found)) return
    seen.push(found)
    await visit.page.keyboard.press(key)
  }
  assert.unreachable(`${name} was not reached by ${key}: ${[...new Set(seen)].join(' | ')}`)
}

/** The name of what has the focus. */
async function focused({ page }: Visit): Promise<string> {
  const name = await page.evaluate(
    `(({ activeElement: e }) => e.getAttribute('aria-label') || e.labels?.[0]?.textContent || e.textContent || '')(document)`,
  )
  return String(name).trim()
}
