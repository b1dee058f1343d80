import type { Locator, Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import type { Visit } from './browser.ts'

/** How a person uses the console: a mouse, a finger on a small screen, or keys alone. */
export const devices = ['desktop', 'phone', 'keyboard'] as const
export type Device = (typeof devices)[number]

/** Presses of Tab within which anything of a view is reached. */
const mostTabs = 200

/** The options of a browser for a device. */
export function optionsOf(device: Device) {
  return device === 'phone' ? { viewport: { width: 360, height: 740 }, hasTouch: true } : {}
}

/** What a person does with a page on one device. A name is that of the label. */
export interface Hand {
  /** Presses a button, link or summary. */
  press(name: string | RegExp): Promise<void>
  fill(label: string, text: string): Promise<void>
  /** Chooses an option by its text. */
  choose(label: string, option: string): Promise<void>
  sees(text: string | RegExp): Promise<void>
}

/** The hand of a person on a device; a dialog that is open is asked first. */
export function handOf({ page }: Visit, device: Device): Hand {
  const within = async (): Promise<Page | Locator> => {
    const dialog = page.locator('dialog[open]').last()
    return (await dialog.count()) > 0 ? dialog : page
  }
  const labelled = async (label: string) => {
    const field = (await within()).getByLabel(label, { exact: true }).first()
    if (device === 'keyboard') await tabTo(page, field)
    return field
  }
  return {
    async press(name) {
      const root = await within()
      const found = root
        .getByRole('button', { name, exact: true })
        .or(root.getByRole('link', { name, exact: true }))
        .or(root.locator('summary', { hasText: name }))
        .first()
      if (device === 'desktop') return found.click()
      if (device === 'phone') return found.tap()
      await tabTo(page, found)
      await page.keyboard.press('Enter')
    },
    async fill(label, text) {
      const field = await labelled(label)
      if (device !== 'keyboard') return field.fill(text)
      await page.keyboard.press('Control+a')
      await page.keyboard.press('Delete')
      await page.keyboard.type(text)
    },
    async choose(label, option) {
      const field = await labelled(label)
      if (device === 'keyboard') await page.keyboard.type(option)
      else await field.selectOption({ label: option })
    },
    sees: (text) => page.getByText(text).filter({ visible: true }).first().waitFor(),
  }
}

/** Presses Tab until an element has the focus. */
async function tabTo(page: Page, wanted: Locator): Promise<void> {
  await wanted.waitFor()
  for (let times = 0; times < mostTabs; times++) {
    if (await wanted.evaluate((element) => element === element.ownerDocument.activeElement)) return
    await page.keyboard.press('Tab')
  }
  assert.unreachable(`${wanted} is not reached by Tab`)
}
