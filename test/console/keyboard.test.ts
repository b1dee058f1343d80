// With --all only: a browser.
import * as assert from 'uvu/assert'
import { until } from '../helpers/eventually.ts'
import { goodPassword } from '../helpers/program/daemon.ts'
import type { Visit } from './browser.ts'
import { handOf } from './hands.ts'
import { sceneSuite, withScene } from './scene.ts'
import { goTo, logIn } from './visits.ts'

const test = sceneSuite('the console by keyboard alone')

test.alone('setup, a persona, a chat that is stopped, a memory, a key and the way out, without a pointer', () =>
  withScene(async ({ browser, url }) => {
    const visit = await browser.open(url)
    const { page } = visit
    const { keyboard } = page
    const hand = handOf(visit, 'keyboard')
    await page.getByRole('heading', { name: 'Set up aichat' }).waitFor()
    await hasFocus(visit, 'User name')
    await hand.fill('Password', goodPassword)
    await keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Chat' }).waitFor()

    await hasFocus(visit, 'Message')
    await hand.press('Skip to the content')
    await hand.press('Personas')
    await page.getByRole('heading', { level: 1, name: 'Personas' }).waitFor()
    await hand.press('New persona')
    await page.getByRole('dialog').waitFor()
    await hasFocus(visit, 'Name')
    for (let times = 0; times < 30; times++) {
      await keyboard.press('Tab')
      assert.ok(
        await page.evaluate(`document.activeElement === document.body || !!document.activeElement.closest('dialog')`),
      )
    }
    await keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await hasFocus(visit, 'New persona')
    await keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await keyboard.type('Mia')
    await hand.fill('Model', 'custom-model')
    await keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Mia' }).waitFor()

    await hand.fill('Message', 'My cat is called Minka, go on')
    await keyboard.press('Enter')
    await page.getByText('Word after word').waitFor()
    await keyboard.press('Escape')
    await page.getByText('stopped', { exact: true }).waitFor()

    await hand.press('Memories')
    await hand.press('Add')
    await page.getByRole('dialog').waitFor()
    await hand.fill('Text', 'The cat sleeps on the printer.')
    await hand.press('Add')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await hand.press(/sleeps on the printer/)
    await page.getByRole('dialog').waitFor()
    await hand.press('Delete for good')
    await page.getByRole('button', { name: /sleeps on the printer/ }).waitFor({ state: 'detached' })

    await hand.press('Usage')
    await hand.press('API keys')
    await hand.press('New key')
    await page.getByRole('dialog').waitFor()
    await keyboard.type('by keyboard')
    await keyboard.press('Enter')
    await page.locator('code.secret').waitFor()
    await hand.press('Done')
    await page.getByRole('row').filter({ hasText: 'by keyboard' }).waitFor()

    await hand.press('Log out')
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
    assert.equal(visit.troubles, [])
  }),
)

test('a backup, a plugin, a voice and a user: each dialog gives the focus back to the button that opened it', async (scene) => {
  const { persona } = scene
  const visit = await logIn(scene, 'ada')
  const { page } = visit
  const { keyboard } = page
  const hand = handOf(visit, 'keyboard')
  const opensAndReturns = async (name: string | RegExp) => {
    await hand.press(name)
    await page.getByRole('dialog').waitFor()
    await page.waitForFunction(`!!document.activeElement.closest('dialog')`)
    await keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await hasFocus(visit, name)
  }

  await goTo(visit, `personas/${persona}/keeping`, 'Mia')
  await page.getByRole('button', { name: 'Restore' }).waitFor()
  await opensAndReturns('Edit')
  await opensAndReturns('Delete the persona')
  await hand.press('Back up now')
  await page.getByRole('button', { name: 'Restore' }).nth(1).waitFor()
  await opensAndReturns(/^Restore/)
  await hand.press('Verify')
  await page.getByText('unchanged').waitFor()

  await goTo(visit, 'plugins', 'Plugins and models')
  await page.getByRole('link', { name: 'Custom' }).waitFor()
  await opensAndReturns('Install')
  await hand.press('Second')
  await page.getByRole('heading', { level: 1, name: 'Second' }).waitFor()
  await opensAndReturns('Edit')
  await hand.press('Make a tiny call')
  await page
    .getByText(/answered|works/i)
    .first()
    .waitFor()

  await goTo(visit, 'voices', 'Voices')
  await page.getByRole('button', { name: 'Listen to Ryan' }).waitFor()
  await hand.fill('Sentence', 'Yes.')
  await hand.press('Listen to Aiden')
  await page.getByLabel('The spoken sentence').waitFor({ timeout: 60_000 })

  await goTo(visit, 'users', 'Users')
  await page.getByText('(you)').waitFor()
  await opensAndReturns('New user')
  await opensAndReturns(/bob/)
  assert.equal(visit.troubles, [])
})

test.run()

/** Waits until the element with this name has the focus: a dialog gives and takes it a moment after it is shown or gone. */
function hasFocus({ page }: Visit, name: string | RegExp): Promise<void> {
  return until(async () => {
    const found = await page.evaluate(
      `(({ activeElement: e }) => e.getAttribute('aria-label') || e.labels?.[0]?.textContent || e.textContent || '')(document)`,
    )
    const text = String(found).trim()
    return typeof name === 'string' ? text === name : name.test(text)
  })
}
