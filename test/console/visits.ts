import type { BrowserContextOptions } from 'playwright-core'
import { goodPassword } from '../helpers/program/daemon.ts'
import type { Visit } from './browser.ts'
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

/** Goes to a place of the console and waits until it is quiet. */
export async function goTo({ page }: Visit, place: string, heading: string | RegExp): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(`#/${place}`)}`)
  await page.getByRole('heading', { level: 1, name: heading }).waitFor()
}
