import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

/** What axe looks for: WCAG 2.2 AA, and what a theme may change of it. */
export const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
export const contrast = ['color-contrast']

/**
 * The findings of axe-core. The page's policy takes no script in markup: it is evaluated by the debugger, once for all views
 * of a page.
 */
export async function axeFindings(page: Page, rules = standards): Promise<readonly string[]> {
  if (!(await page.evaluate(`'axe' in globalThis`))) {
    const { source } = createRequire(import.meta.url)('axe-core') as { source: string }
    await page.evaluate(source)
  }
  return page.evaluate(async (runOnly) => {
    const { axe } = globalThis as unknown as {
      axe: {
        run(
          options: object,
        ): Promise<{ violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }>
      }
    }
    const { violations } = await axe.run({ runOnly })
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
    )
  }, rules)
}
