import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { packageFolder } from '../../src/app/package-folder.ts'
import { suite } from '../helpers/suite.ts'
import { haveBrowser } from './browser.ts'
import { furnish } from './furniture.ts'
import { withScene } from './scene.ts'
import { goTo, logIn } from './visits.ts'

const test = suite('the console on a wide screen, in another language')

if (haveBrowser)
  test('numbers, dates and distances in time are those of the browser, and 3,840 pixels are used', () =>
    withScene(async (scene) => {
      const { persona } = await furnish(scene)
      const options = { viewport: { width: 3840, height: 2160 }, locale: 'de-DE', timezoneId: 'Asia/Tokyo' }
      const visit = await logIn(scene, 'ada', options)
      const { page, troubles } = visit
      const texts: Record<string, string> = {}
      for (const [name, place, heading, shown] of [
        ['now', 'now', 'Now', 'Local runner'],
        ['memories', `personas/${persona}/memories`, 'Mia', 'Minka'],
        ['usage', 'usage', 'Usage', 'second-model'],
        ['keys', 'usage/keys', 'Usage', 'night job'],
        ['users', 'users', 'Users', '(you)'],
        ['voices', 'voices', 'Voices', 'Ryan'],
      ] as const) {
        await goTo(visit, place, heading)
        await page.getByText(shown).first().waitFor()
        await page.screenshot({ path: join(packageFolder('dist'), 'screenshots', `${name}-wide.png`) })
        texts[name] = await page.locator('main').innerText()
        const overflow = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
        assert.ok(overflow <= 0, `${name} is ${overflow} px wider than the window`)
      }
      assert.match(texts['usage']!, /\d\d\d\.\d\d\d/, 'thousands with a point')
      assert.match(texts['usage']!, /\d,\d\d\s\$/, 'dollars behind the number')
      assert.match(texts['usage']!, /\d\d\.\d\d\.\d{4}/, 'days with points')
      assert.match(texts['memories']!, /vor \d+ (?:Sekunden|Minuten|Stunden)/)
      assert.match(texts['users']!, /\d\d\.\d\d\.\d{4}/)
      const size = Number(await page.evaluate(`parseFloat(getComputedStyle(document.body).fontSize)`))
      assert.ok(size >= 18, 'letters grow with the screen')
      assert.equal(troubles, [])
    }))

test.run()
