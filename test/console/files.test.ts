// With --all only: a browser.
import * as assert from 'uvu/assert'
import { pluginAt } from '../helpers/program/installation.ts'
import { json, openStandIn } from '../helpers/providers/fake-provider.ts'
import { sceneSuite } from './scene.ts'
import { goTo, logIn } from './visits.ts'

/** A picture of one pixel. */
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

const test = sceneSuite('files and lists in the console')

test('memories of a file come in with progress, and a picture goes to the model', async (scene) => {
  const { persona } = scene
  const visit = await logIn(scene, 'ada')
  const { page, troubles } = visit
  await goTo(visit, `personas/${persona}/memories`, 'Mia')
  await page.getByText(/^\d+ memories, newest first/).waitFor()
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.evaluate(`(() => {
        window.shares = []
        const look = () => window.shares.push(document.querySelector('dialog progress')?.getAttribute('value') ?? 'reading')
        new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true })
      })()`)
  const lines = Array.from({ length: 1500 }, (_, at) => JSON.stringify({ content: `Imported note ${at}` }))
  const buffer = Buffer.from(lines.join('\n'))
  await page.getByLabel('File').setInputFiles({ name: 'notes.jsonl', mimeType: 'application/jsonl', buffer })
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Import' }).click()
  await dialog.getByText('1,500 memories').waitFor()
  assert.ok(((await page.evaluate('window.shares')) as string[]).length > 0, 'the progress was shown')
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await page.getByText('1,503 memories').waitFor()

  // Not a file of memories: the reason is shown, nothing comes in.
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByLabel('File').setInputFiles({ name: 'x.bin', mimeType: 'x/y', buffer: Buffer.alloc(70_000, 7) })
  await dialog.getByRole('button', { name: 'Import' }).click()
  await dialog.getByRole('alert').waitFor()
  await page.keyboard.press('Escape')

  await goTo(visit, `personas/${persona}`, 'Mia')
  await page
    .getByLabel('Add files', { exact: true })
    .setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: picture })
  await page.getByRole('button', { name: 'Remove dot.png' }).waitFor()
  await page.getByLabel('Message').fill('What is this?')
  await page.keyboard.press('Enter')
  await page.locator('.message.user img').waitFor()
  await page.getByRole('heading', { name: 'Tea for two' }).waitFor()
  assert.is(Number(await page.evaluate(`document.querySelector('.message.user img').naturalWidth`)), 1)
  assert.match(scene.provider.received.at(-1)!.body, `data:image/png;base64,${picture.toString('base64')}`)

  // The conversation is found again in the list, and deleted there.
  const conversation = page.locator('.conversations').getByRole('link')
  await conversation.waitFor()
  await page.getByRole('button', { name: 'New conversation' }).click()
  await page.locator('.message').first().waitFor({ state: 'detached' })
  await conversation.click()
  await page.locator('.message.user').getByText('What is this?').waitFor()
  await page.locator('.message.user img').waitFor()
  const remove = async () => {
    await page.getByRole('button', { name: /^Rename, pin, save or delete What/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await conversation.waitFor({ state: 'detached' })
  }
  await remove()
  assert.is(await page.locator('.message').count(), 0)
  await page.getByRole('button', { name: 'Undo' }).click()
  await conversation.waitFor()
  await remove()
  assert.equal(troubles, [])
})

test('the picker of models tells the facts that the command line tells', async (scene) => {
  const facts = { context_window: 128_000, max_output: 4_096, images: true, tools: true, audio: false }
  await scene.installation.app.plugins.install(
    pluginAt(scene.provider.url, { id: 'known', model_map: ['m1', 'm2'], models: { m1: facts } }),
  )
  const visit = await logIn(scene, 'ada')
  const { page } = visit
  await goTo(visit, 'personas', 'Personas')
  await page.getByRole('button', { name: 'New persona' }).click()
  const field = page.getByLabel('Model', { exact: true })
  await field.fill('known:m1')
  const words = '128,000 tokens at once; answers of at most 4,096; takes and does: images, tools'
  await page.getByText(words, { exact: true }).waitFor()
  await page.locator(`option[value="known:m1"][label="${words}"]`).waitFor({ state: 'attached' })
  await field.fill('known:m2')
  await page.getByText(words, { exact: true }).waitFor({ state: 'detached' })
})

test('a list of models is taken only after its difference was shown', async (scene) => {
  await using provider = await openStandIn((_, response) =>
    json(response, 200, { object: 'list', data: ['custom-model', 'newer-model'].map((id) => ({ id })) }),
  )
  const { plugins } = scene.installation.app
  await plugins.install(
    pluginAt(provider.url, {
      id: 'listed',
      name: 'Listed',
      model_map: ['custom-model', 'older-model'],
      models_source: { url: `${provider.url}/v1/models` },
    }),
  )
  const visit = await logIn(scene, 'ada')
  const { page, troubles } = visit
  await goTo(visit, 'plugins/listed', 'Listed')
  await page.getByText('older-model').waitFor()
  const models = async () => [...(await plugins.get('listed')).model_map]
  await page.getByRole('button', { name: 'Refresh' }).click()
  await page.getByText('1 models are new, 1 are gone').waitFor()
  await page.getByText('newer-model').waitFor()
  assert.equal(await models(), ['custom-model', 'newer-model'])
  assert.equal(troubles, [])
})

test.run()
