// With --all only: a browser.
import * as assert from 'uvu/assert'
import { pluginAt } from '../helpers/program/installation.ts'
import { completionEvents, openStandIn } from '../helpers/providers/fake-provider.ts'
import { sceneSuite } from './scene.ts'
import { goTo, logIn } from './visits.ts'

/** Markup that would show itself, a script that would leave a mark, marks that turn the direction, and no end. */
const markup = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script><b>bold</b>'
const turned = '\u202egnp.txt\u202c \u2067\u05d0\u2069'
const endless = 'x'.repeat(100_000)

const answer = [
  `${markup}\n\n`,
  '[a link](javascript:window.hacked=1) [another](data:text/html,<script>window.hacked=1</script>)\n\n',
  '![a picture](https://example.org/track.png)\n\n',
  `${turned}\n\n${endless}\n\n${'> '.repeat(500)}deep\n\n${'['.repeat(2000)}`,
]

const test = sceneSuite('hostile texts in the console')

test('names, memories, answers and plugins full of markup are text, and no line is wider than the window', async (scene) => {
  await using writer = await openStandIn(({ body }, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(completionEvents(/shallow/.test(body) ? [...answer.slice(0, 3), 'the end'] : answer).join(''))
  })
  const { admin, persona } = scene
  const { call, installation } = scene
  const post = async (path: string, body: unknown) => {
    const told = await call('POST', path, { token: admin.token, body })
    assert.ok(told.status < 300, `${path}: ${JSON.stringify(told.body)}`)
    return told.body
  }
  const { plugins } = installation.app
  await plugins.install(pluginAt(writer.url, { id: 'writer', name: markup, description: markup, model_map: ['w'] }))
  // Budgets refuse a model without a price.
  for (const subject of ['all', 'user:ada']) await call('DELETE', `/api/limits/${subject}`, { token: admin.token })
  const evil = await post('/api/personas', {
    name: markup,
    model: 'writer:w',
    description: markup + endless.slice(0, 90_000),
  })
  for (const content of [markup, turned, endless.slice(0, 20_000)])
    await post(`/api/personas/${evil.id}/memory`, { content, metadata: { category: markup } })
  await post('/api/keys', { name: markup })
  await post('/api/users', { username: 'eve.<b>', password: 'Passw0rd' }).catch(() => undefined)
  const visit = await logIn(scene, 'ada', { viewport: { width: 360, height: 740 } })
  const { page, troubles } = visit
  const places = [
    ['personas', 'Personas'],
    [`personas/${evil.id}/memories`, markup],
    ['usage/keys', 'Usage'],
    ['plugins', 'Plugins and models'],
    ['plugins/writer', markup],
    ['users', 'Users'],
    [`personas/${evil.id}`, markup],
  ] as const
  for (const [place, heading] of places) {
    await goTo(visit, place, heading)
    await page
      .locator('main')
      .getByText('<b>bold</b>')
      .or(page.getByText('eve'))
      .or(page.getByText('(you)'))
      .first()
      .waitFor()
    await untouched(place)
  }
  await page.getByLabel('Message').fill(markup)
  await page.keyboard.press('Enter')
  await page.getByText('deep').waitFor()
  await page.getByRole('button', { name: 'Copy' }).waitFor()
  await untouched('the answer')
  assert.is(await page.locator('.messages a').count(), 0, 'no link of that kind')
  await page.getByLabel('Message').fill('shallow')
  await page.keyboard.press('Enter')
  await page.getByText('the end').waitFor()
  await untouched('the shallow answer')
  await goTo(visit, `usage/requests?plugin=writer&model=${encodeURIComponent(markup)}&since=${'9'.repeat(99)}`, 'Usage')
  await page.getByRole('alert').waitFor()
  await untouched('filters that a link chose')
  await goTo(visit, `usage/requests?plugin=writer`, 'Usage')
  await page.getByRole('cell', { name: 'writer: w' }).first().waitFor()
  await untouched('the log of requests')
  await goTo(visit, `personas/${persona}/memories`, 'Mia')
  await page.getByLabel('Search the memories').fill(markup + turned)
  await page
    .getByText(/likely to help/)
    .first()
    .waitFor()
  await untouched('the search')
  assert.equal(troubles, [])

  async function untouched(place: string): Promise<void> {
    assert.is(await page.evaluate('window.hacked'), undefined, place)
    assert.is(await page.locator('main :is(img, script, b, iframe)').count(), 0, place)
    const overflow = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
    assert.ok(overflow <= 0, `${place} is ${overflow} px wider than the window`)
  }
})

test('a page of another port can neither frame the console, nor post to it, nor read from it', async (scene) => {
  await using foreign = await openStandIn((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end('<!doctype html><title>foreign</title><body></body>')
  })
  const { admin } = scene
  const { context } = await logIn(scene, 'ada')
  const page = await context.newPage()
  await page.goto(foreign.url)
  const told = (await page.evaluate(attacks(scene.url))) as Record<string, string>
  assert.equal(told, { read: 'refused', secret: 'refused', post: 'refused', opaque: 'refused', frame: 'empty' })
  const { body } = await scene.call('GET', '/api/personas', { token: admin.token })
  assert.not(body.personas.some(({ name }: { name: string }) => name === 'Foreign'))
})

test('a user sees nothing of an administrator or of another user', async (scene) => {
  const { persona, admin } = scene
  await scene.call('POST', '/api/chat', { token: admin.token, body: { messages: [{ role: 'user', content: 'tea' }] } })
  const visit = await logIn(scene, 'bob')
  const { page } = visit
  await page.getByText('No request since the service began').waitFor()
  const names = await page.getByRole('navigation', { name: 'Views' }).getByRole('link').allInnerTexts()
  assert.equal(names, ['Now', 'Chat', 'Personas', 'Usage', 'Plugins', 'Voices'])
  await page.evaluate(`location.hash = '#/users'`)
  await page.getByRole('heading', { name: 'Now' }).waitFor()
  await page.evaluate(`location.hash = '#/personas/${persona}'`)
  await page.getByRole('alert').waitFor()
  assert.not.match(await page.content(), /Mia|Minka/)
  await page.evaluate(`location.hash = '#/now/1'`)
  await page.getByRole('dialog').getByRole('alert').getByText('not found').waitFor()
  await page.keyboard.press('Escape')
  for (const [place, heading] of [
    ['plugins', 'Plugins and models'],
    ['plugins/custom', 'Custom'],
    ['usage/budgets', 'Usage'],
  ] as const) {
    await goTo(visit, place, heading)
    assert.is(
      await page.getByRole('button', { name: /^(?:Install|Activate|Deactivate|Refresh|New limit)/ }).count(),
      0,
      place,
    )
  }
  await goTo(visit, 'usage', 'Usage')
  await page.getByRole('row').filter({ hasText: 'custom-model' }).waitFor()
  assert.not.match(await page.content(), /ada|editor on the laptop/)
})

test.run()

/** The attempts of a foreign page in the browser of a logged-in user, with their results. */
function attacks(target: string): string {
  return `(async () => {
    const refusedOr = (promise) => promise.then(async (answer) => answer.type === 'opaque' ? 'opaque' : await answer.text(), () => 'refused')
    const read = await refusedOr(fetch('${target}/api/auth/me', { credentials: 'include' }))
    const secret = await refusedOr(fetch('${target}/api/auth/me', { credentials: 'include', headers: { 'x-aichat-console': 'A'.repeat(43) } }))
    const body = JSON.stringify({ name: 'Foreign', model: 'm' })
    const post = await refusedOr(fetch('${target}/api/personas', { method: 'POST', credentials: 'include', headers: { 'content-type': 'application/json' }, body }))
    const opaque = await refusedOr(fetch('${target}/api/personas', { method: 'POST', mode: 'no-cors', credentials: 'include', body }))
    const frame = document.createElement('iframe')
    frame.src = '${target}/console'
    document.body.append(frame)
    await new Promise((resolve) => { frame.onload = resolve; setTimeout(resolve, 3000) })
    let inside = 'empty'
    try { inside = frame.contentDocument ? 'readable' : 'empty' } catch {}
    const form = document.createElement('form')
    form.method = 'post'; form.action = '${target}/api/personas'; form.enctype = 'text/plain'; form.target = 'nowhere'
    const field = document.createElement('input')
    field.name = '{"name":"Foreign","model":"m","x":"'; field.value = '"}'
    form.append(field); document.body.append(form)
    const nowhere = document.createElement('iframe'); nowhere.name = 'nowhere'; document.body.append(nowhere)
    form.submit()
    await new Promise((resolve) => { nowhere.onload = resolve; setTimeout(resolve, 3000) })
    return { read, secret, post, opaque, frame: inside }
  })()`
}
