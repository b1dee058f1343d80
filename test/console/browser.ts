import { existsSync } from 'node:fs'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { haveProgram } from '../helpers/debian.ts'

/** Debian's browser. */
const program = '/usr/bin/chromium'

/** Whether the tests of the console can run; prints the reason where not. */
export const haveBrowser: boolean = haveProgram('chromium') && existsSync(program)

/** A browser, and the problems of its pages: the entries of a developer console. */
export interface TestBrowser {
  open(url: string, options?: BrowserContextOptions): Promise<Visit>
  close(): Promise<void>
}

/** A page in a context of its own, as if on a machine of its own. */
export interface Visit {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors of scripts, messages of errors and warnings, reports of the content security policy, requests to other hosts. */
  readonly troubles: string[]
}

/** Starts one browser for the tests of a file. */
export async function openBrowser(): Promise<TestBrowser> {
  const browser: Browser = await chromium.launch({
    executablePath: program,
    // The sandbox refuses to run as root, which tests in containers do.
    args: [
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-gpu',
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
      '--autoplay-policy=no-user-gesture-required',
    ],
  })
  return {
    async open(url, options = {}) {
      const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin', ...options })
      const page = await context.newPage()
      page.setDefaultTimeout(30_000)
      const troubles: string[] = []
      const { host } = new URL(url)
      page.on('pageerror', ({ message }) => troubles.push(`error: ${message}`))
      page.on('console', (message) => {
        // The browser itself logs each refusal of the API; the page shows them.
        const isRefusal = /^Failed to load resource: the server responded with a status of 4/.test(message.text())
        if (['error', 'warning'].includes(message.type()) && !isRefusal)
          troubles.push(`${message.type()}: ${message.text()}`)
      })
      page.on('request', (request) => {
        const address = new URL(request.url())
        if (['http:', 'https:'].includes(address.protocol) && address.host !== host)
          troubles.push(`request to ${address.host}`)
      })
      await page.goto(url)
      return { page, context, troubles }
    },
    close: () => browser.close(),
  }
}
