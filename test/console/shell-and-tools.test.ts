// With --all only: a browser.
import * as assert from 'uvu/assert'
import { pinOf } from '../../src/chat/tools/pins.ts'
import { closing } from '../helpers/disposal.ts'
import { until } from '../helpers/eventually.ts'
import { toolServerCommand } from '../helpers/mcp/stdio-server.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { openStandIn } from '../helpers/providers/fake-provider.ts'
import { resultsIn, scripted } from '../helpers/providers/scripted-provider.ts'
import { axeFindings } from './axe.ts'
import { openCuttableWay } from './cuttable.ts'
import { sceneSuite } from './scene.ts'
import { goTo, logIn } from './visits.ts'

const test = sceneSuite('tools, places and old content in the console')
const phone = { width: 360, height: 740 }

test('on a phone a call of a tool is shown with hostile arguments, allowed by keyboard, denied, and left by a reload', async (scene) => {
  const hostile = '<img src=x onerror="window.hacked=1">\u202e'.repeat(20)
  const call = [['tools__echo', { text: hostile }]] as const
  await using caller = await openStandIn(scripted([call, 'All done.', call, 'Then not.', call]))
  const { token } = scene.admin
  const { plugins, toolServers } = scene.installation.app
  const { list, open } = await toolServers()
  await plugins.install(pluginAt(caller.url, { id: 'caller', model_map: ['c'] }))
  for (const subject of ['all', 'user:ada']) await scene.call('DELETE', `/api/limits/${subject}`, { token })
  const [command, ...args] = toolServerCommand
  list.set('tools', { command, args, timeout: 5 })
  const server = await open('tools')
  const echo = (await server.tools()).find(({ name }) => name === 'echo')!
  list.decide({ server: 'tools', tool: 'echo', pin: pinOf(server, echo), decision: 'ask', service: true })
  await server.close()
  const body = { name: 'Caller', model: 'caller:c', mcp_servers: ['tools'] }
  const { id } = (await scene.call('POST', '/api/personas', { token, body })).body

  const visit = await logIn(scene, 'ada', { viewport: phone })
  const { page, troubles } = visit
  await goTo(visit, `personas/${id}`, 'Caller')
  const ask = async (text: string) => {
    await page.getByLabel('Message').fill(text)
    await page.keyboard.press('Enter')
  }
  const question = page.getByRole('group', { name: 'May this tool be called?' })
  await ask('one')
  await question.getByText('onerror').waitFor()
  await question.getByText(String.raw`\u202e`).waitFor()
  assert.equal(await axeFindings(page), [])
  await untouched()
  for (let tabs = 0; tabs < 20; tabs++) {
    await page.keyboard.press('Shift+Tab')
    if ((await page.evaluate('document.activeElement.textContent')) === 'Allow') break
  }
  await page.keyboard.press('Enter')
  await page.getByText('All done.').waitFor()
  const calls = page.getByRole('list', { name: 'Calls of tools' })
  await calls.getByText('echo of tools').click()
  await calls.getByText('You said: <img').waitFor()
  assert.match(await calls.innerText(), /done[\s\S]*Arguments[\s\S]*Result/)
  assert.equal(await axeFindings(page), [])
  await untouched()

  await ask('two')
  await question.getByRole('button', { name: 'Deny' }).click()
  await page.getByText('Then not.').waitFor()
  await calls.last().getByText('not allowed').waitFor()
  assert.equal(resultsIn(caller.received).at(-1), 'Error: The user does not allow this call')

  await ask('three')
  await question.waitFor()
  const asked = caller.received.length
  await page.reload()
  await page.getByText('Then not.').waitFor()
  assert.is(await question.count(), 0)
  await calls.last().getByText('not allowed').waitFor()
  await calls.first().getByText('echo of tools').click()
  await calls.first().getByText('You said: <img').waitFor()
  await untouched()
  assert.is(caller.received.length, asked, 'the model is not asked again for a reader who left')
  assert.equal(troubles, [])

  async function untouched(): Promise<void> {
    assert.is(await page.evaluate('window.hacked'), undefined)
    assert.is(await page.locator('main img').count(), 0)
    assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth')) <= 0)
  }
})

test('Ctrl-K leads to views, personas, keys, users and conversations, by keyboard alone and on a phone', async (scene) => {
  const { token } = scene.admin
  await scene.call('POST', '/api/sessions', { token, body: { name: 'Ferries to Bergen' } })
  const visit = await logIn(scene, 'ada')
  const { page, troubles } = visit
  for (const [typed, address] of [
    ['ferries', /#\/chat\/[\w-]+$/],
    ['view pers', /#\/personas$/],
    ['librarian', /#\/personas\/[\w-]+$/],
    ['key night', /#\/usage\/keys$/],
    ['user bob', /#\/users\?q=bob$/],
  ] as const) {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'A part of a name' }).waitFor()
    await page.keyboard.type(typed)
    await page.getByRole('option').first().waitFor()
    assert.equal(await axeFindings(page), [])
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.waitForURL(address)
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  await page.getByText('1 user', { exact: true }).waitFor()
  await page.setViewportSize(phone)
  await page.getByRole('button', { name: 'Go to …' }).click()
  await page.keyboard.type('no such place')
  await page.getByText('Nothing is called so').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  assert.equal(troubles, [])

  // Pinned, a conversation stands first and stays there.
  await page.setViewportSize({ width: 1280, height: 800 })
  await goTo(visit, 'chat', 'Chat')
  await scene.call('POST', '/api/sessions', { token, body: { name: 'A newer one' } })
  await page.getByRole('button', { name: /^Rename, pin.*Ferries/ }).click()
  await page.getByRole('button', { name: 'Pin to the top' }).click()
  await page.reload()
  const rows = page.locator('.conversations li')
  await until(async () => /Ferries to Bergen\s*pinned/.test(await rows.first().innerText()))
  await rows.filter({ hasText: 'A newer one' }).waitFor()
})

test('content is old in words once its server is gone, and new again when it answers', async (scene) => {
  await using way = closing(await openCuttableWay(scene.url))
  const visit = await logIn({ ...scene, url: way.url }, 'ada', { viewport: phone })
  const { page } = visit
  await page
    .getByText(/answers chats/)
    .first()
    .waitFor()
  way.cut()
  const old = page.getByRole('alert').filter({ hasText: /What is shown is from .* and may be out of date/ })
  await old.first().waitFor()
  assert.equal(await axeFindings(page), [])
  await page
    .getByText(/answers chats/)
    .first()
    .waitFor()
  way.open()
  await old.first().waitFor({ state: 'detached' })
})

test.run()
