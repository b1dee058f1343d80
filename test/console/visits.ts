import type { BrowserContextOptions, Page, Route } from 'playwright-core'
import { goodPassword } from '../helpers/program/daemon.ts'
import type { Visit } from './browser.ts'
import { handOf } from './hands.ts'
import type { Scene } from './scene.ts'

/** Opens the console and logs in. */
export async function logIn(
  { browser, url }: Scene,
  username: string,
  options?: BrowserContextOptions,
): Promise<Visit> {
  const visit = await browser.open(url, options)
  const { page } = visit
  await page.getByLabel('User name').fill(username)
  await page.getByLabel('Password').fill(goodPassword)
  await page.keyboard.press('Enter')
  await page.getByRole('navigation', { name: 'Views' }).waitFor()
  return visit
}

/** What the API may do at a step: the text that a person reads, and what becomes of the request. */
const faults: readonly (readonly [text: string, answer: (route: Route) => Promise<void>])[] = [
  ['The server does not answer', (route) => route.abort()],
  ['It broke', (route) => route.fulfill({ status: 500, json: { error: 'It broke', code: 'internal' } })],
  ['Too many at once', (route) => route.fulfill({ status: 429, json: { error: 'Too many at once' } })],
]

/** Has the next request of a path fail in each way, which `act` causes and the page says. */
export async function failAtFirst(page: Page, path: string, act: () => Promise<void>): Promise<void> {
  for (const [text, answer] of faults) {
    await page.route(path, answer, { times: 1 })
    await act()
    await page.getByRole('alert').filter({ hasText: text }).first().waitFor()
    // A button that is still at work takes no second press.
    await page.waitForFunction('!document.querySelector("[aria-busy=true]")')
  }
}

/** Has the login end at the next request of a path, which `act` causes, and logs in again. */
export async function endLoginAt(
  visit: Visit,
  path: string,
  username: string,
  act: () => Promise<void>,
): Promise<void> {
  const { page } = visit
  await page.route(path, (route) => route.fulfill({ status: 401, json: { error: 'Over' } }), { times: 1 })
  await act()
  await page.getByText('You are logged out').waitFor()
  const hand = handOf(visit, 'desktop')
  await hand.fill('User name', username)
  await hand.fill('Password', goodPassword)
  await hand.press('Log in')
}

/** Has the next request of a path wait until the page has said that it waits. */
export async function slowAt(page: Page, path: string, act: () => Promise<void>): Promise<void> {
  await page.route(
    path,
    async (route) => {
      await page.locator('[aria-busy=true], .button:has-text("Stop")').first().waitFor()
      await route.continue()
    },
    { times: 1 },
  )
  await act()
}

/** Goes to a place of the console and waits until it is quiet. */
export async function goTo({ page }: Visit, place: string, heading: string | RegExp): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(`#/${place}`)}`)
  await page.getByRole('heading', { level: 1, name: heading }).waitFor()
}
