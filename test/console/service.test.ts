// With --all only: a browser.
import * as assert from 'uvu/assert'
import { knownModels } from '../../src/model-hub/known-models.ts'
import { closing } from '../helpers/disposal.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { onnxOf, openLoopbackHub } from '../helpers/providers/loopback-hub.ts'
import { sceneSuite, withScene } from './scene.ts'
import { goTo, logIn } from './visits.ts'

const test = sceneSuite('the service in the console')

test.alone(
  'models are pulled and removed, backups made, verified, saved and removed, prices set, on a phone too',
  async () => {
    await using hub = closing(await openLoopbackHub())
    for (const { repository, revision, path } of knownModels.get('smollm2-360m')!.editions[0]!.files)
      hub.files.set(`${repository}@${revision}/${path}`, {
        content: path.endsWith('.json') ? Buffer.from(JSON.stringify({ path })) : onnxOf(300_000),
      })
    const work: Parameters<typeof withScene>[0] = async (scene) => {
      await scene.register('ada')
      const visit = await logIn(scene, 'ada', { viewport: { width: 360, height: 740 } })
      const { page } = visit
      const button = (name: string | RegExp) => page.getByRole('button', { name })
      const within = async () => {
        const overflow = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
        const hidden = Number(
          await page.evaluate(
            `Math.max(0, ...[...document.querySelectorAll('.table-frame')].map((e) => e.scrollWidth - e.clientWidth))`,
          ),
        )
        assert.ok(overflow <= 0 && hidden <= 0, `${overflow} and ${hidden} px are reached by scrolling sideways`)
      }
      await goTo(visit, 'service', 'Service')
      await button('Pull smollm2-360m').click()
      await button('Remove smollm2-360m').waitFor()
      await within()
      await button('Remove smollm2-360m').click()
      await button(/^Remove$/).click()
      await button('Pull smollm2-360m').waitFor()
      assert.equal((await scene.installation.app.models()).hub.installed(), [])

      await page.getByRole('link', { name: 'Backups' }).click()
      await page.getByText('No schedule makes them').waitFor()
      await button('Back up now').click()
      await button(/^Verify/).click()
      await page.getByText('It is whole: 1 users').waitFor()
      const download = page.waitForEvent('download')
      await button(/^Save/).click()
      assert.match((await download).suggestedFilename(), /^aichat-.*\.tar\.gz$/)
      await within()
      await button(/^Remove the backup/).click()
      await button(/^Remove$/).click()
      await page.getByText('No backup yet').waitFor()

      await page.getByRole('link', { name: 'Settings' }).click()
      await page.getByLabel('Filter Settings').fill('backup.every')
      await button('Take over changes').click()
      await page.getByText('Taken over: nothing had changed').waitFor()
      await within()

      await goTo(visit, 'usage/prices', 'Usage')
      await button('Own price').click()
      for (const [label, text] of [
        ['Plugin', 'custom'],
        ['Model', 'custom-model'],
        ['In', '2.5'],
        ['Out', '10'],
      ] as const)
        await page.getByRole('dialog').getByLabel(label, { exact: true }).fill(text)
      await button('Save').click()
      await page.getByLabel('Filter Prices').fill('custom-model')
      await page.getByRole('row').filter({ hasText: '2.5' }).getByText('own').waitFor()
      await within()
      await button('Remove the own price of custom: custom-model').click()
      await button(/^Remove$/).click()
      await page.getByRole('row').filter({ hasText: '2.5' }).waitFor({ state: 'detached' })
      assert.equal(visit.troubles, [])
    }
    await withScene(work, { HF_ENDPOINT: hub.endpoint })
  },
)

test.alone('each trouble on the first view leads to its repair, and is gone after it', () =>
  withScene(async (scene) => {
    const { token } = await scene.register('ada')
    const { plugins } = scene.installation.app
    const auth = { header: 'Authorization', prefix: 'Bearer ', key_env: 'KEYLESS_API_KEY' }
    await plugins.install(pluginAt(scene.provider.url, { id: 'keyless', name: 'Keyless', auth }))
    const body = { messages: [{ role: 'user', content: 'fail' }] }
    for (let times = 0; times < 10; times++) await scene.call('POST', '/api/chat', { token, body })
    const visit = await logIn(scene, 'ada')
    const { page } = visit
    const trouble = (text: string) => page.getByRole('listitem').filter({ hasText: text })
    const step = (text: string, name: string) => trouble(text).getByRole('link', { name }).click()

    await step('custom: custom-model failed again and again', 'Test it')
    await page.getByRole('button', { name: 'Make a tiny call' }).click()
    await page
      .getByText(/answered|works/i)
      .first()
      .waitFor()
    await goTo(visit, 'now', 'Now')
    await trouble('requests to models failed in the last hour').waitFor()
    await trouble('failed again and again').waitFor({ state: 'detached' })

    await plugins.activate('keyless')
    await page.reload()
    await step('keyless cannot answer: it has no key', 'Give it its key')
    await page.getByLabel('Key of Keyless').fill('sk-of-the-keyless-0123456789')
    await page.keyboard.press('Enter')
    await page.getByText('The key is kept in').waitFor()
    await goTo(visit, 'now', 'Now')
    await trouble('requests to models failed').waitFor()
    assert.is(await trouble('it has no key').count(), 0)

    await plugins.deactivate('chat')
    await page.reload()
    await step('No provider is active', 'Choose one')
    await page.getByRole('button', { name: 'Activate Custom' }).click()
    await page.getByText('custom is active').waitFor()
    await goTo(visit, 'now', 'Now')
    await page.getByText('custom: custom-model answers chats').waitFor()
    assert.is(await trouble('No provider is active').count(), 0)
  }),
)

test.run()
