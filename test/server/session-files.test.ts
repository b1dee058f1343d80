// Some with --all only: a whole sample.
import * as assert from 'uvu/assert'
import { openUsers, type UserDaemon, withUsers } from '../helpers/program/user-daemon.ts'
import { type Answer, completion, json } from '../helpers/providers/fake-provider.ts'
import { isWholeRun, suite } from '../helpers/suite.ts'

const test = suite('the pictures and files of saved conversations over HTTP')

const answering: Answer = (_request, response) => json(response, 200, completion('A dot.'))
const base64 = Buffer.from('a picture').toString('base64')
const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${base64}`, detail: 'low' } }
const sound = { type: 'input_audio', input_audio: { data: base64, format: 'wav' } }
const plan = { type: 'file', file: { filename: 'plan.pdf', file_data: `data:application/pdf;base64,${base64}` } }
const text = (words: string) => ({ type: 'text', text: words })

/** The messages of the last request to the provider. */
function sentTo({ provider }: UserDaemon) {
  return JSON.parse(provider.received.at(-1)!.body).messages
}

const asks = (content: unknown, session = 'Talk') => ({ session, messages: [{ role: 'user', content }] })

test('a later question is sent with the pictures, sounds and files of the earlier ones, as they came', async () => {
  await using all = await openUsers({ provider: answering })
  await all.ada('POST', '/api/sessions', { name: 'Talk' })
  const content = [text('What'), picture, sound, plan, text('is this?')]
  await all.ada('POST', '/api/chat', asks(content))
  const { status, body } = await all.ada('POST', '/api/chat', asks('And again?'))
  assert.equal([status, body.aichat.warnings], [200, []])
  const [first, , last] = sentTo(all)
  assert.equal([first.content, last.content], [content, 'And again?'])
  const shown = (await all.ada('GET', '/api/sessions/Talk')).body.messages[0]
  assert.is(shown.content, 'What\n[image_url]\n[input_audio]\n[file]\nis this?')
  assert.equal((await all.ada('GET', '/api/sessions/Talk?files=true')).body.messages[0].content, content)
  const { hits } = (await all.ada('GET', '/api/sessions/search?q=what')).body
  assert.equal([hits.length, hits[0].number], [1, 1])
})

test('what is taken back comes with its pictures, and can be added again', () =>
  withUsers(
    async ({ ada }) => {
      await ada('POST', '/api/sessions', { name: 'Talk' })
      await ada('POST', '/api/chat', asks([picture, text('What?')]))
      const { taken } = (await ada('POST', '/api/sessions/Talk/undo', { files: true })).body
      assert.equal(taken[0].content, [picture, text('What?')])
      const messages = [{ role: 'user', content: taken[0].content }]
      assert.is((await ada('POST', '/api/sessions/Talk/messages', { messages })).status, 200)
      const { body } = await ada('GET', '/api/sessions/Talk?files=true')
      assert.equal(body.messages[0].content, [picture, text('What?')])
    },
    { provider: answering },
  ))

test('a reference of the kind that is stored, in a message of a user, reads nothing of another', () =>
  withUsers(
    async ({ ada, bob, installation }) => {
      await ada('POST', '/api/sessions', { name: 'Talk' })
      await ada('POST', '/api/chat', asks([picture]))
      const { conversations } = await installation.app.personas()
      const [saved] = await conversations.messages('ada-1', 'Talk')
      const [stored] = saved!.message.content as readonly { readonly image_url: { readonly url: string } }[]
      assert.match(stored!.image_url.url, /^kept:image\/png;size=9;sha256=[\da-f]{64}$/)
      await bob('POST', '/api/sessions', { name: 'Hers' })
      const url = stored!.image_url.url
      const forged = [{ type: 'image_url', image_url: { url } }, { type: 'file', file: { file_data: url } }, text('x')]
      const messages = [{ role: 'user', content: forged }]
      assert.is((await bob('POST', '/api/sessions/Hers/messages', { messages })).status, 200)
      const { body } = await bob('GET', '/api/sessions/Hers?files=true')
      assert.is(body.messages[0].content, '[image_url]\n[file]\nx')
      assert.is((await bob('GET', '/api/sessions/Talk')).status, 404)
    },
    { provider: answering },
  ))

test.whole('a picture of more than 32 MiB is refused by a sentence', () =>
  withUsers(
    async ({ ada, provider }) => {
      const url = `data:image/png;base64,${'A'.repeat(33_600_000)}`
      const { status, body } = await ada('POST', '/api/chat', asks([{ type: 'image_url', image_url: { url } }]))
      assert.is(status, 413)
      assert.match(body.error, /larger|longer|MiB|bytes/)
      assert.is(provider.received.length, 0)
    },
    { provider: answering },
  ),
)

test.whole('a large picture, new and again with a later question, leaves others their turns', () =>
  withUsers(
    async ({ ada, bob }) => {
      await ada('POST', '/api/sessions', { name: 'Talk' })
      // 23 MB, or 6.
      const url = `data:image/png;base64,${'A'.repeat(isWholeRun ? 30_666_668 : 8_000_000)}`
      for (const content of [[{ type: 'image_url', image_url: { url } }], 'And again?']) {
        let isOver = false
        const asked = ada('POST', '/api/chat', asks(content)).finally(() => {
          isOver = true
        })
        let others = 0
        for (; !isOver; others++) assert.is((await bob('GET', '/health')).status, 200)
        assert.is((await asked).status, 200)
        assert.ok(others >= (isWholeRun ? 8 : 3), `${others} answers meanwhile`)
      }
    },
    { provider: answering },
  ),
)

test.whole(
  'pictures beyond what a request holds are left out of later questions, the oldest first, by a warning',
  async () => {
    await using all = await openUsers({ provider: answering })
    await all.ada('POST', '/api/sessions', { name: 'Talk' })
    for (const letter of ['A', 'B']) {
      const url = `data:image/png;base64,${letter.repeat(16_200_000)}`
      await all.ada('POST', '/api/chat', asks([{ type: 'image_url', image_url: { url } }]))
    }
    const { body } = await all.ada('POST', '/api/chat', asks('All of them?'))
    assert.match(
      body.aichat.warnings.join(),
      /^A picture or file of earlier messages left out: a request holds 24000000/,
    )
    const [first, , second] = sentTo(all)
    assert.equal(first.content, [text('[a picture was left out: it does not fit beside the later ones]')])
    const beginning = ({ content }: { content: readonly [typeof picture] }) => content[0].image_url.url.slice(0, 24)
    assert.is(beginning(second), 'data:image/png;base64,BB')
  },
)

test('the address of a picture is kept, and left out of a later question that must stay on this machine', async () => {
  await using all = await openUsers({ provider: answering })
  await all.ada('POST', '/api/sessions', { name: 'Talk' })
  const address = { type: 'image_url', image_url: { url: 'https://example.org/a.png' } }
  await all.ada('POST', '/api/chat', asks([address]))
  await all.ada('POST', '/api/chat', asks('Again?'))
  assert.equal(sentTo(all)[0].content, [address])
  const { status } = await all.ada('POST', '/api/chat', { ...asks('Here?'), local_only: true })
  assert.equal([status, sentTo(all)[0].content], [200, [text('[image_url]')]])
})

test('a model that is known not to see gets a text, and the answer a warning', async () => {
  const plugin = { models: { 'custom-model': { images: false } } }
  await using all = await openUsers({ provider: answering, plugin })
  await all.ada('POST', '/api/sessions', { name: 'Talk' })
  const { body } = await all.ada('POST', '/api/chat', asks([picture, picture, text('What?')]))
  assert.equal(body.aichat.warnings, ['2 pictures were left out: custom-model takes none'])
  const words = '[a picture was left out: custom-model takes none]'
  assert.equal(sentTo(all)[0].content, [text(words), text(words), text('What?')])
})

test.run()
