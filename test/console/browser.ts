import { spawn } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { haveProgram } from '../helpers/debian.ts'
import { temporaryFolder } from '../helpers/folders.ts'

/** Debian's browser. */
const program = '/usr/bin/chromium'

/** Whether the tests of the console can run; prints the reason where not. */
export const haveBrowser: boolean = haveProgram('chromium') && existsSync(program)

/** A browser, and the problems of its pages: the entries of a developer console. */
export interface TestBrowser {
  open(url: string, options?: BrowserContextOptions): Promise<Visit>
  /** Closes all pages. */
  clear(): Promise<void>
  /** Leaves the browser to the next file of this process. */
  close(): Promise<void>
}

/** A page in a context of its own, as if on a machine of its own. */
export interface Visit {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors of scripts, messages of errors and warnings, reports of the content security policy, requests to other hosts. */
  readonly troubles: string[]
}

/** The debugger's address of the browser that this process has started. */
let started: Promise<string> | undefined

/** Connects to the browser of this process, which the first file starts: a start takes as long as most tests. */
export async function openBrowser(): Promise<TestBrowser> {
  started ??= startBrowser()
  const browser = await chromium.connectOverCDP(await started)
  const contexts = new Set<BrowserContext>()
  const clear = async () => {
    for (const context of contexts) await context.close()
    contexts.clear()
  }
  return {
    async open(url, options = {}) {
      const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin', ...options })
      contexts.add(context)
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
    clear,
    async close() {
      await clear()
      await browser.close()
    },
  }
}

/** Starts the browser, which ends with this process and does not keep it running. Resolves with its debugger's address. */
async function startBrowser(): Promise<string> {
  const profile = temporaryFolder()
  const child = spawn(
    program,
    [
      '--headless',
      '--remote-debugging-port=0',
      `--user-data-dir=${profile}`,
      // The sandbox refuses to run as root, which tests in containers do.
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-gpu',
      // Of its own it asks hosts of its maker for updates, and slows pages that are not in front.
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-background-timer-throttling',
      '--disable-backgrounding-occluded-windows',
      '--disable-renderer-backgrounding',
      '--disable-dev-shm-usage',
      '--no-first-run',
      '--autoplay-policy=no-user-gesture-required',
      'about:blank',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  process.once('exit', () => {
    child.kill('SIGKILL')
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
  })
  const address = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.once('exit', () => reject(new Error(`The browser ended:\n${text}`)))
    child.stderr.setEncoding('utf8').on('data', (more: string) => {
      text += more
      const listening = /^DevTools listening on (ws:\S+)/m.exec(text)
      if (listening) resolve(listening[1]!)
    })
  })
  child.unref()
  ;(child.stderr as unknown as { unref(): void }).unref()
  return address
}
