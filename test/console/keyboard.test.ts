// With --all only: a browser.
import * as assert from 'uvu/assert'
import { goodPassword } from '../helpers/program/daemon.ts'
import type { Visit } from './browser.ts'
import { sceneSuite, withScene } from './scene.ts'
import { goTo, logIn } from './visits.ts'

/** Presses of Tab within which anything in a view is reached. */
const mostTabs = 80

const test = sceneSuite('the console by keyboard alone')

test.alone('setup, a persona, a chat that is stopped, a memory, a key and the way out, without a pointer', () =>
  withScene(async ({ browser, url }) => {
    const visit = await browser.open(url)
    const { page } = visit
    const { keyboard } = page
    await page.getByRole('heading', { name: 'Set up aichat' }).waitFor()
    await hasFocus(visit, 'User name', 'the first field has the focus')
    await tabTo(visit, 'Password')
    await keyboard.type(goodPassword)
    await keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Chat' }).waitFor()

    await hasFocus(visit, 'Message', 'the first question can be typed at once')
    await tabTo(visit, 'Skip to the content')
    await tabTo(visit, 'Personas')
    await keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Personas' }).waitFor()
    await tabTo(visit, 'New persona')
    await keyboard.press('Enter')
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
    await hasFocus(visit, 'New persona', 'the focus goes back to where it was')
    await keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await keyboard.type('Mia')
    await keyboard.press('Escape')
    await page.getByText('What you typed here is not saved.').waitFor()
    await tabTo(visit, 'Keep writing', 'Shift+Tab')
    await keyboard.press('Enter')
    assert.is(await page.getByLabel('Name').inputValue(), 'Mia')
    await tabTo(visit, 'Model')
    await keyboard.type('custom-model')
    await keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Mia' }).waitFor()

    await tabTo(visit, 'Message')
    await keyboard.type('My cat is called Minka, go on')
    await keyboard.press('Enter')
    await page.getByText('Word after word').waitFor()
    await keyboard.press('Escape')
    await page.getByText('stopped', { exact: true }).waitFor()

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
  }),
)

test('a backup, a plugin, a voice and a user: each dialog gives the focus back to the button that opened it', async (scene) => {
  const { persona } = scene
  const visit = await logIn(scene, 'ada')
  const { page } = visit
  const { keyboard } = page
  const opensAndReturns = async (name: string | RegExp) => {
    await tabTo(visit, name)
    const opener = await focused(visit)
    await keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.waitForFunction(`!!document.activeElement.closest('dialog')`)
    await keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await hasFocus(visit, opener)
  }

  await goTo(visit, `personas/${persona}/keeping`, 'Mia')
  await page.getByRole('button', { name: 'Restore' }).waitFor()
  await opensAndReturns('Edit')
  await opensAndReturns('Delete the persona')
  await tabTo(visit, 'Back up now')
  await keyboard.press('Enter')
  await page.getByRole('button', { name: 'Restore' }).nth(1).waitFor()
  await opensAndReturns(/^Restore/)
  await tabTo(visit, 'Export')
  await tabTo(visit, 'Verify')
  await keyboard.press('Enter')
  await page.getByText('unchanged').waitFor()

  await goTo(visit, 'plugins', 'Plugins and models')
  await page.getByRole('link', { name: 'Custom' }).waitFor()
  await opensAndReturns('Install')
  await tabTo(visit, 'Second')
  await keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Second' }).waitFor()
  await opensAndReturns('Edit')
  await tabTo(visit, 'Make a tiny call')
  await keyboard.press('Enter')
  await page
    .getByText(/answered|works/i)
    .first()
    .waitFor()

  await goTo(visit, 'voices', 'Voices')
  await page.getByRole('button', { name: 'Listen to Ryan' }).waitFor()
  await tabTo(visit, 'Sentence')
  await keyboard.press('Control+a')
  await keyboard.type('Yes.')
  await tabTo(visit, 'Listen to Aiden')
  await keyboard.press('Enter')
  await page.getByLabel('The spoken sentence').waitFor({ timeout: 60_000 })

  await goTo(visit, 'users', 'Users')
  await page.getByText('(you)').waitFor()
  await opensAndReturns('New user')
  await opensAndReturns(/bob/)
  assert.equal(visit.troubles, [])
})

test.run()

/** Presses Tab until the element with this name has the focus. */
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

/** Waits until the element with this name has the focus: a dialog gives and takes it a moment after it is shown or gone. */
async function hasFocus(visit: Visit, name: string, why?: string): Promise<void> {
  let found = await focused(visit)
  for (const begun = performance.now(); found !== name && performance.now() - begun < 20_000; )
    found = await focused(visit)
  assert.is(found, name, why)
}

/** The name of the focused element. */
async function focused({ page }: Visit): Promise<string> {
  const name = await page.evaluate(
    `(({ activeElement: e }) => e.getAttribute('aria-label') || e.labels?.[0]?.textContent || e.textContent || '')(document)`,
  )
  return String(name).trim()
}
