// With --all only: a browser.
import { once } from 'node:events'
import * as assert from 'uvu/assert'
import { closing } from '../helpers/disposal.ts'
import { until } from '../helpers/eventually.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { type Answer, openStandIn, type StandIn } from '../helpers/providers/fake-provider.ts'
import type { Visit } from './browser.ts'
import { openCuttableWay } from './cuttable.ts'
import { type Furnished, sceneSuite } from './scene.ts'
import { goTo, logIn } from './visits.ts'

const test = sceneSuite('a chat in the console')

type Chunk = { readonly delta: object; readonly finish?: string }

/** What models write, and what nobody should be able to: a link and a size in a formula. */
const written = String.raw`| leaf | minutes |
|:---:|---:|
| green | 2 |

- [x] warm the pot
- [ ] pour it, as https://example.org/tea says, with main.py

Tea costs $5 and $6, and \(a^2\) is $\frac{1}{2}$ of it:

$$
x
= \sqrt{2}
$$

$\href{javascript:alert(1)}{x}$ and $\rule{90000em}{90000em}$ and $\wrong{$

${'```'}js
const tea = "<img src=x onerror=alert(1)>" // green
${'```'}
`

/** Answers by the last word of the question, whose ending it shows. */
const endings: Readonly<Record<string, readonly Chunk[]>> = {
  refused: [{ delta: { refusal: 'I cannot help with that.' }, finish: 'stop' }],
  filtered: [{ delta: { content: 'First you' }, finish: 'content_filter' }],
  long: [{ delta: { content: 'One, two, three' }, finish: 'length' }],
  written: [{ delta: { content: written }, finish: 'stop' }],
  empty: [{ delta: { content: '' }, finish: 'stop' }],
  thinking: [
    { delta: { reasoning_content: 'Leaves before ' } },
    { delta: { reasoning_content: 'water.' } },
    { delta: { content: 'Pour it over.' }, finish: 'stop' },
  ],
}

/** One of these endings, words and no end until the reader leaves (`slow`), none at the first time (`later`), or a short one. */
const writer: Answer = async ({ body }, response) => {
  const asked = JSON.stringify(JSON.parse(body).messages.at(-1))
  const send = ({ delta, finish = null }: { delta: object; finish?: string | null }) =>
    response.write(
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'w', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
    )
  if (asked.includes('later') && !heard.has(asked)) return void heard.add(asked)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  if (asked.includes('slow')) {
    for (let words = 0; words < 3; words++) send({ delta: { content: 'word by word ' } })
    return void (await once(response, 'close'))
  }
  const ending = Object.keys(endings).find((word) => asked.includes(word))
  for (const chunk of endings[ending ?? ''] ?? [{ delta: { content: 'A short answer.' }, finish: 'stop' }]) send(chunk)
  response.end('data: [DONE]\n\n')
}

/** The questions that got no answer at first. */
const heard = new Set<string>()

interface Talk {
  readonly visit: Visit
  readonly writer: string
  /** The bodies that the provider got. */
  readonly asked: () => readonly {
    readonly messages: readonly { readonly role: string; readonly content: unknown }[]
  }[]
  /** Types a question and sends it. */
  readonly ask: (text: string) => Promise<void>
  /** The role and the beginning of each message in the saved conversations, the newest first. */
  readonly saved: () => Promise<readonly (readonly string[])[]>
}

/** The address of the writer. */
let provider: StandIn | undefined
test.after(() => provider?.close())

/** A chat with a new persona whose provider is the writer, at the scene's address or another. */
async function openTalk(scene: Furnished, url = scene.url): Promise<Talk> {
  const { token } = scene.admin
  if (!provider) {
    provider = await openStandIn(writer)
    await scene.installation.app.plugins.install(pluginAt(provider.url, { id: 'writer', model_map: ['w'] }))
    for (const subject of ['all', 'user:ada']) await scene.call('DELETE', `/api/limits/${subject}`, { token })
  }
  const { received } = provider
  const before = received.length
  const { id } = (await scene.call('POST', '/api/personas', { token, body: { name: 'Writer', model: 'writer:w' } }))
    .body
  const visit = await logIn({ ...scene, url }, 'ada')
  await goTo(visit, `personas/${id}`, 'Writer')
  return {
    visit,
    writer: id,
    asked: () => received.slice(before).map(({ body }) => JSON.parse(body)),
    async ask(text) {
      await visit.page.getByLabel('Message').fill(text)
      await visit.page.keyboard.press('Enter')
    },
    async saved() {
      const { sessions } = (await scene.call('GET', `/api/sessions?persona=${id}`, { token })).body
      return Promise.all(
        sessions.map(async (session: { id: string }) => {
          const { messages } = (await scene.call('GET', `/api/sessions/${session.id}`, { token })).body
          return messages.map(
            ({ role, content, cut }: { role: string; content: string | null; cut?: true }) =>
              `${role}: ${content?.slice(0, 12)}${cut ? ' (cut)' : ''}`,
          )
        }),
      )
    },
  }
}

/** Waits until the saved conversations are these. */
function untilSaved({ saved }: Talk, wanted: readonly (readonly string[])[]): Promise<void> {
  return until(async () => JSON.stringify(await saved()) === JSON.stringify(wanted))
}

test('a question and the beginning of its answer stay after Stop and after a reload, in one conversation', async (scene) => {
  const talk = await openTalk(scene)
  const { page, troubles } = talk.visit
  const stop = page.getByRole('button', { name: 'Stop' })
  await talk.ask('slow one')
  await page.getByText('word by word').first().waitFor()
  await stop.click()
  const first = ['user: slow one', 'assistant: word by word (cut)']
  await untilSaved(talk, [first])
  await talk.ask('short')
  await page.getByText('A short answer.').waitFor()
  const second = [...first, 'user: short', 'assistant: A short answ']
  await untilSaved(talk, [second])
  await talk.ask('slow two')
  await page.locator('.message').nth(5).getByText('word by word').waitFor()
  await page.reload()
  const third = [...second, 'user: slow two', 'assistant: word by word (cut)']
  await untilSaved(talk, [third])
  // The address names the conversation, whose end was written while the page was loaded again.
  await page.reload()
  await page.getByText('slow two').waitFor()
  await talk.ask('slow three')
  await page.locator('.message').nth(7).getByText('word by word').waitFor()
  await stop.click()
  await page.locator('.message').last().getByText('The answer was stopped').waitFor()
  await untilSaved(talk, [[...third, 'user: slow three', 'assistant: word by word (cut)']])
  assert.equal(troubles, [])
})

test('a question that is sent again behind a broken connection stands in the conversation once', async (scene) => {
  await using way = closing(await openCuttableWay(scene.url))
  const talk = await openTalk(scene, way.url)
  const { page } = talk.visit
  for (const earlier of [[], ['user: short', 'assistant: A short answ']]) {
    if (earlier.length > 0) {
      await page.getByRole('button', { name: 'New conversation' }).click()
      await talk.ask('short')
      await page.getByText('A short answer.').waitFor()
    }
    await talk.ask('slow')
    await page.getByText('word by word').first().waitFor()
    way.cut()
    await page.getByRole('alert').getByText('broke off').waitFor()
    const end = ['user: slow', 'assistant: word by word (cut)']
    const whole = [...earlier, ...end]
    const before = earlier.length > 0 ? [end] : []
    await untilSaved(talk, [whole, ...before])
    way.open()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('word by word').first().waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.locator('.message').getByText('The answer was stopped').waitFor()
    await untilSaved(talk, [whole, ...before])
  }
})

test('refused, filtered, cut and empty answers look so, also when they are opened again; thinking is folded up', async (scene) => {
  const talk = await openTalk(scene)
  const { page, troubles } = talk.visit
  const shown = {
    refused: /I cannot help with that\.[\s\S]*refused[\s\S]*The model refused/,
    filtered: /First you[\s\S]*filtered[\s\S]*A filter of the provider/,
    long: /One, two, three[\s\S]*cut[\s\S]*is incomplete/,
    empty: /empty[\s\S]*The model answered nothing/,
    thinking: /^(?![\s\S]*Leaves)[\s\S]*Thinking[\s\S]*Pour it over\./,
  }
  const check = async () => {
    for (const [at, pattern] of Object.values(shown).entries())
      assert.match(await page.locator('.message.assistant').nth(at).innerText(), pattern)
    await page.locator('summary', { hasText: 'Thinking' }).click()
    await page.getByText('Leaves before water.').waitFor()
  }
  for (const [at, word] of Object.keys(shown).entries()) {
    await talk.ask(word)
    await page.locator('.message-foot').nth(at).waitFor()
    const status = await page.locator('.chat [role=status].unseen').innerText()
    assert.is(/is complete/.test(status), word === 'thinking', `${word}: ${status}`)
  }
  await check()
  await page.reload()
  await page.locator('.message-foot').nth(4).waitFor()
  await check()
  assert.equal(troubles, [])
})

test('a question stands without an answer after Stop, a reload and a closed tab before its first word, and is asked again once', async (scene) => {
  const talk = await openTalk(scene)
  const { page, context, troubles } = talk.visit
  const askUnheard = async (text: string) => {
    const { length } = talk.asked()
    await talk.ask(text)
    await until(() => talk.asked().length > length)
  }
  const answered = (text: string) => [`user: ${text}`, 'assistant: A short answ']
  await askUnheard('later 1')
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.locator('.message').getByText('the question stands without an answer').waitFor()
  await untilSaved(talk, [['user: later 1']])
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('A short answer.').waitFor()
  await untilSaved(talk, [answered('later 1')])

  // A second question, whose address is known.
  await askUnheard('later 2')
  await page.reload()
  await untilSaved(talk, [[...answered('later 1'), 'user: later 2']])
  await page.reload()
  await page.getByText('This question has no answer').waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('A short answer.').nth(1).waitFor()
  const first = [...answered('later 1'), ...answered('later 2')]
  await untilSaved(talk, [first])

  // A first question, whose conversation is found beside the next one; another is asked in its place.
  await page.getByRole('button', { name: 'New conversation' }).click()
  await askUnheard('later 3')
  const tab = await context.newPage()
  // An open tab shares its login.
  await tab.goto(page.url())
  await tab.getByLabel('Message').waitFor()
  await page.close()
  await untilSaved(talk, [['user: later 3'], first])
  await tab.reload()
  await tab.getByRole('link', { name: 'later 3' }).click()
  await tab.getByText('This question has no answer').waitFor()
  await tab.getByLabel('Message').fill('short')
  await tab.keyboard.press('Enter')
  await tab.getByText('A short answer.').waitFor()
  await untilSaved(talk, [['user: later 3', ...answered('short')], first])
  assert.is(await tab.getByRole('button', { name: 'Try again' }).count(), 0)
  assert.equal(
    talk
      .asked()
      .at(-1)!
      .messages.map(({ content }) => content),
    ['later 3', '[This question was not answered.]', 'short'],
  )
  assert.equal(troubles, [])
})

test('tables, tasks, links, code and formulas of an answer are shown as such; hostile ones stay text', async (scene) => {
  const talk = await openTalk(scene)
  const { page, troubles, context } = talk.visit
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await talk.ask('written')
  const answer = page.locator('.message.assistant .markdown')
  await answer.locator('.hljs-keyword', { hasText: 'const' }).waitFor()
  await answer.locator('math mfrac').waitFor()
  await answer.locator('.formula.block math msqrt').waitFor()
  assert.is(await answer.locator('td.aligned-right').innerText(), '2')
  assert.is(await answer.locator('td.aligned-center').innerText(), 'green')
  assert.equal(await page.evaluate(`[...document.querySelectorAll('.markdown li input')].map((box) => box.checked)`), [
    true,
    false,
  ])
  assert.equal(await page.evaluate(`[...document.querySelectorAll('.markdown a')].map((link) => link.href)`), [
    'https://example.org/tea',
  ])
  await answer.getByText('Tea costs $5 and $6').waitFor()
  await answer.getByText(String.raw`\wrong{`, { exact: false }).waitFor()
  assert.is(await answer.locator('img').count(), 0)
  assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth')) <= 0)
  await answer.getByRole('button', { name: 'Copy code' }).click()
  await answer.getByRole('button', { name: 'Copied' }).waitFor()
  assert.match(await page.evaluate('navigator.clipboard.readText()'), /^const tea = "<img/)
  assert.equal(troubles, [])
})

test('a question is edited and answered again in branches; all of them stay and can be gone through', async (scene) => {
  const talk = await openTalk(scene)
  const { page, troubles } = talk.visit
  const answers = page.locator('.message.assistant .message-foot')
  await talk.ask('short: the first')
  await answers.first().waitFor()
  await talk.ask('long: the second')
  await answers.nth(1).waitFor()
  const trunk = page.url()

  await page.getByRole('button', { name: 'Edit the question' }).nth(1).click()
  const field = page.getByLabel('The question in other words')
  assert.is(await field.inputValue(), 'long: the second')
  await field.fill('thinking: the second')
  await page.keyboard.press('Enter')
  await page.getByText('Pour it over.').waitFor()
  const versions = page.getByRole('group', { name: 'Versions of this question' })
  await versions.getByText('2 of 2').waitFor()
  assert.is.not(page.url(), trunk)

  await page.getByRole('button', { name: 'Answer again', exact: true }).nth(1).click()
  await versions.getByText('3 of 3').waitFor()
  await page.getByRole('button', { name: 'Answer again with another model' }).first().click()
  await page.getByRole('dialog').getByLabel('Search').fill('second-model')
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /second-model/ })
    .click()
  await page.getByRole('heading', { name: 'Tea for two' }).waitFor()
  await versions.getByText('2 of 2').waitFor()
  assert.is(await page.locator('.message').count(), 2)

  // From there back to the first, and through the versions of its second question.
  await page.getByRole('button', { name: 'Earlier version' }).click()
  await versions.getByText('1 of 3').waitFor()
  assert.is(page.url(), trunk)
  await page.reload()
  await versions.getByText('1 of 3').waitFor()
  await page.getByText('One, two, three').waitFor()
  await page.getByRole('button', { name: 'Later version' }).nth(1).click()
  await versions.getByText('2 of 3').waitFor()
  await page.getByText('Pour it over.').waitFor()
  assert.is((await talk.saved()).length, 4)
  assert.equal(troubles, [])
})

test('files go by button and drop, each with what became of it, and a draft stays over a reload', async (scene) => {
  const talk = await openTalk(scene)
  const { page, troubles } = talk.visit
  const files = page.getByRole('list', { name: 'Files' })
  const hostile = '"><img src=x onerror=alert(1)>.txt'
  await page.getByLabel('Add files', { exact: true }).setInputFiles([
    { name: hostile, mimeType: 'text/plain', buffer: Buffer.from('The password of </file> is tea.') },
    { name: 'page.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.7 broken') },
    { name: 'song.bin', mimeType: 'audio/x', buffer: Buffer.from([0, 1, 2, 0xff]) },
    { name: 'nothing.txt', mimeType: 'text/plain', buffer: Buffer.alloc(0) },
  ])
  await files.getByText('its text, 31 characters').waitFor()
  await files.getByText(/page\.pdf .*(?:damaged|cannot|not)/).waitFor()
  await files.getByText('is neither text, a PDF nor a picture').waitFor()
  await files.getByText('is empty').waitFor()
  await page.getByLabel('Message').fill('short: a draft')
  await page.reload()
  assert.is(await page.getByLabel('Message').inputValue(), 'short: a draft')

  await page.evaluate(`(() => {
    const data = new DataTransfer()
    data.items.add(new File(['dropped words'], 'notes.md', { type: 'text/markdown' }))
    document.querySelector('.composer').dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }))
  })()`)
  await files.getByText('notes.md').waitFor()
  await files.getByText('its text, 13 characters').waitFor()
  await page.getByLabel('Message').press('Enter')
  await page.locator('.message-foot').first().waitFor()
  await page.getByText('A short answer.').waitFor()
  const [asked] = talk.asked()
  assert.match(JSON.stringify(asked!.messages.at(-1)), '<file path=\\"notes.md\\">\\ndropped words\\n</file>')
  assert.is(await page.getByLabel('Message').inputValue(), '')
  await page.reload()
  await page.locator('.message.user').getByText('notes.md').waitFor()
  assert.is(await page.locator('.message.user').getByText('dropped words').count(), 0)
  assert.equal(troubles, [])
})

test('a conversation is found behind hundreds of newer ones, of this persona and of others', async (scene) => {
  const { token } = scene.admin
  const {
    visit: { page },
    writer: persona,
  } = await openTalk(scene)
  const begin = async (name: string, other?: string) => {
    const { status } = await scene.call('POST', '/api/sessions', {
      token,
      body: { name, ...(other !== 'none' && { persona }) },
    })
    assert.is(status, 201)
  }
  await begin('The oldest')
  for (let at = 0; at < 120; at++) await begin(`newer ${at}`)
  for (let at = 0; at < 100; at++) await begin(`other ${at}`, 'none')
  await page.reload()
  await page.getByText('newer 119').waitFor()
  assert.is(await page.getByText('other 1').count(), 0)
  await page.getByRole('button', { name: 'Show older ones' }).click()
  await page.getByText('The oldest').waitFor()
  assert.is(await page.getByRole('button', { name: 'Show older ones' }).count(), 0)
})

test.run()
