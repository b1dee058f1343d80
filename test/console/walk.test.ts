// With --all only: a browser.
import * as assert from 'uvu/assert'
import { writeWav } from '../../speech/audio/wav.ts'
import { goodPassword } from '../helpers/program/daemon.ts'
import { sceneSuite, withScene } from './scene.ts'
import { goTo } from './visits.ts'

const test = sceneSuite('a walk through the console')

test.alone('from first-time setup to a voice that is heard, without a complaint of the browser', () =>
  withScene(async ({ browser, url, call }) => {
    const visit = await browser.open(url)
    const { page, context, troubles } = visit
    const button = (name: string | RegExp) => page.getByRole('button', { name })

    // First-time setup: a weak password is refused with every reason, a good one creates the administrator.
    await page.getByRole('heading', { name: 'Set up aichat' }).waitFor()
    await page.getByLabel('Password').fill('weak')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('digit').waitFor()
    await page.getByLabel('Password').fill(goodPassword)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Chat', exact: true }).waitFor()
    await goTo(visit, 'now', 'Now')
    assert.is(await page.evaluate('document.cookie + JSON.stringify(localStorage)'), '{}')

    // Logout and login; the login outlives a reload, and a second tab is logged in, too.
    await button('Log out').click()
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
    await page.getByLabel('User name').fill('admin')
    await page.getByLabel('Password').fill(goodPassword)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Now' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Now' }).waitFor()
    const tab = await context.newPage()
    await tab.goto(`${url}/console`)
    await tab.getByRole('heading', { name: 'Now' }).waitFor()
    await tab.close()

    // A persona, a whole answer with Markdown, and one that is stopped.
    await goTo(visit, 'personas', 'Personas')
    await button('New persona').click()
    await page.getByLabel('Name').fill('Mia')
    await page.getByLabel('Model', { exact: true }).fill('custom-model')
    await button('Create').click()
    await page.getByRole('heading', { level: 1, name: 'Mia' }).waitFor()
    await page.getByLabel('Message').fill('My cat is called Minka, and I like green tea.')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Tea for two' }).waitFor()
    await page.getByRole('cell', { name: 'green' }).waitFor()
    await page.getByLabel('Message').fill('go on and on')
    await page.keyboard.press('Enter')
    await page.getByText('Word after word and on and on').waitFor()
    const shown = await (await context.newPage()).goto(`${url}/console`)
    assert.is(shown?.status(), 200)
    await button('Stop').click()
    await page.getByText('stopped', { exact: true }).waitFor()

    // A fallback is seen in Now, with its reason in the story.
    await page.getByLabel('Message').fill('fail')
    await page.keyboard.press('Enter')
    await page.getByText('fell back').waitFor()
    await goTo(visit, 'now', 'Now')
    await page.getByRole('row').filter({ hasText: 'fell back' }).getByRole('link').click()
    const story = page.getByRole('dialog')
    await story.getByText('The model is overloaded').waitFor()
    await story.getByText('second-model answered').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('row').filter({ hasText: 'cancelled' }).waitFor()

    // The last hour leads to the requests that failed, of which the ledger keeps each attempt.
    await page.getByText(/\d+ of \d+ requests to models failed in the last hour/).waitFor()
    await page.getByRole('link', { name: 'See them' }).click()
    await page.getByRole('row').filter({ hasText: 'failed' }).first().waitFor()
    assert.is(await page.getByRole('row').filter({ hasText: 'cancelled' }).count(), 0)
    await page.getByLabel('Outcome').selectOption('cancelled by the caller')
    await page.getByRole('row').filter({ hasText: 'cancelled' }).waitFor()
    assert.match(page.url(), /outcome=cancelled/)

    // A key: its secret is shown once, used, seen in usage, and revoked in mid-stream.
    await goTo(visit, 'usage/keys', 'Usage')
    await button('New key').click()
    await page.getByLabel('Name').fill('editor')
    await button('Create').click()
    const secret = await page.locator('code.secret').innerText()
    await button('Done').click()
    assert.not.match(await page.content(), secret)
    const used = await call('POST', '/api/chat', {
      token: secret,
      body: { messages: [{ role: 'user', content: 'tea' }] },
    })
    assert.is(used.status, 200)
    const stream = await fetch(`${url}/api/chat`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'go on' }], stream: true }),
    })
    await page.getByRole('link', { name: 'Spend' }).click()
    // A bar of a chart leads to the requests of its day, of which the newest is today's.
    const chart = (await page.locator('.u-over').first().boundingBox())!
    await page.mouse.click(chart.x + chart.width - 2, chart.y + chart.height / 2)
    await page.waitForURL(/usage\/requests\?since=/)
    await page.getByRole('row').filter({ hasText: 'editor' }).first().waitFor()
    await page.goBack()
    await page.getByLabel('By', { exact: true }).selectOption('key')
    await page.getByRole('row').filter({ hasText: 'editor' }).waitFor()
    await page.getByRole('link', { name: 'API keys' }).click()
    await button('Edit editor').click()
    await page.getByLabel('Expires, from now').selectOption('30d')
    await button('Save').click()
    await page.getByRole('row').filter({ hasText: 'in 4 weeks' }).waitFor()
    await button('Limit editor').click()
    await page.getByLabel('Requests a minute').fill('7')
    await button('Save').click()
    await page.getByRole('row').filter({ hasText: '7 requests a minute' }).waitFor()
    await page.getByRole('button', { name: 'Key', exact: true }).click()
    assert.is(await page.getByRole('columnheader', { name: 'Key' }).getAttribute('aria-sort'), 'ascending')
    await button('Rotate editor').click()
    await page.getByText('The old one works for 24 hours more').waitFor()
    await button(/^Rotate$/).click()
    assert.is.not(await page.locator('code.secret').innerText(), secret)
    await button('Done').click()
    await button('Revoke editor').click()
    await button(/^Revoke$/).click()
    assert.match(await stream.text(), 'event: error')
    await page.getByRole('row').filter({ hasText: 'revoked' }).waitFor()

    // A memory is found, edited and deleted.
    const personas = page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Personas' })
    await personas.click()
    await page.getByRole('link', { name: 'Mia' }).click()
    await page.getByRole('link', { name: 'Memories' }).click()
    const search = page.getByLabel('Search the memories')
    await search.fill('cat')
    await page.getByRole('button', { name: /Minka/ }).first().click()
    await page.getByLabel('Text').fill('The cat is called Minka and is eleven.')
    await page.getByLabel(/^Pinned/).check()
    await button('Save').click()
    await page
      .getByRole('button', { name: /is eleven/ })
      .first()
      .click()
    await button('Delete for good').click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: /is eleven/ }).waitFor({ state: 'detached' })

    // Undoes a learned preference.
    const { token } = (await call('POST', '/api/auth/login', { body: { username: 'admin', password: goodPassword } }))
      .body
    await call('POST', '/api/personas/Mia/state/adaptation', {
      token,
      body: {
        adaptation_type: 'explicit_instruction',
        trigger_event: 'user_instruction',
        changes: [{ preference: 'units', value: 'metric' }],
      },
    })
    await page.getByRole('link', { name: 'Learned' }).click()
    await button('Undo').click()
    await page.getByText('undone', { exact: true }).waitFor()

    // A backup is made, and the stored persona verified.
    await page.getByRole('link', { name: 'Backup' }).click()
    await button('Back up now').click()
    await button('Restore').waitFor()
    await button('Verify').click()
    await page.getByText('unchanged').waitFor()

    // A plugin pasted with three mistakes: all are named, and it is not installed.
    await goTo(visit, 'plugins', 'Plugins and models')
    await button('Install').click()
    await page.getByLabel('Document').fill(threeMistakes)
    await button(/^Install$/)
      .last()
      .click()
    await page.getByRole('alert').waitFor()
    assert.is(await page.getByRole('alert').locator('li').count(), 3)
    await page.keyboard.press('Escape')

    // A voice is heard as it streams; the sound that is kept is no silence.
    await goTo(visit, 'voices', 'Voices')
    await button('Listen to Ryan').click()
    const audio = page.getByLabel('The spoken sentence')
    await audio.waitFor({ timeout: 60_000 })
    const loudest = await page.evaluate(loudestSample)
    assert.ok(Number(loudest) > 0.05, `the loudest sample is ${loudest}`)

    // A voice of a recording speaks the sentence, too.
    const recording = (seconds: number) => ({ name: 'voice.wav', mimeType: 'audio/wav', buffer: voiceOf(seconds) })
    await page.getByLabel('A sound file').setInputFiles(recording(2))
    await page.getByText('at least 3 seconds are needed').waitFor()
    await page.getByLabel('A sound file').setInputFiles(recording(4))
    await button('Speak the sentence with this voice').click()
    await page.getByText('First sound after').waitFor()
    await audio.waitFor()

    assert.equal(troubles, [])
  }),
)

test.run()

/** A recording of so many seconds: a tone of 140 Hz with overtones that swells, as a voice does. */
function voiceOf(seconds: number): Buffer {
  const rate = 24_000
  const samples = Float32Array.from({ length: rate * seconds }, (_, at) => {
    const tone = [1, 2, 3, 4].reduce((sum, times) => sum + Math.sin((2 * Math.PI * 140 * times * at) / rate) / times, 0)
    return 0.2 * tone * (0.6 + 0.4 * Math.sin((2 * Math.PI * 3 * at) / rate))
  })
  return writeWav(samples, rate)
}

const threeMistakes = `{
  "id": "Wrong Id",
  "name": "Mine",
  "type": "chat",
  "endpoint": "ftp://example.org",
  "auth": { "header": "Authorization" },
  "model_map": ["a"]
}`

/** The loudest sample that the audio element plays within some seconds. */
const loudestSample = `(async () => {
  const audio = document.querySelector('audio')
  const context = new AudioContext()
  const analyser = context.createAnalyser()
  context.createMediaElementSource(audio).connect(analyser).connect(context.destination)
  const samples = new Float32Array(analyser.fftSize)
  await audio.play()
  let loudest = 0
  while (loudest <= 0.05 && !audio.ended) {
    await new Promise(requestAnimationFrame)
    analyser.getFloatTimeDomainData(samples)
    loudest = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), loudest)
  }
  await context.close()
  return loudest
})()`
