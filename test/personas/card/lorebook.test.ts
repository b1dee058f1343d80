import * as assert from 'uvu/assert'
import { plainPng, writePngTexts } from '../../../src/formats/png-text.ts'
import { pluck } from '../../helpers/pluck.ts'
import { type UserDaemon, withUsers } from '../../helpers/program/user-daemon.ts'
import { type Answer, completion, json } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'

const cards = suite('a character card in use')

const texts = {
  description: 'A mathematician',
  personality: 'kind',
  scenario: '',
  first_mes: 'Good day, {{user}}. I am {{char}}.',
  mes_example: '',
}

const entry = (keys: readonly string[], content: string, more: object = {}) => ({
  keys,
  content,
  extensions: { theirs: 1 },
  enabled: true,
  insertion_order: 10,
  use_regex: false,
  ...more,
})

const entries = [
  entry(['engine'], 'The engine of {{char}} is made of brass.', { id: 3, comment: 'the engine', priority: 7 }),
  entry(['London'], 'London is full of smoke.', { insertion_order: 2, case_sensitive: true }),
  entry([], '@@depth 2\nIt is the year 1842.', { constant: true, insertion_order: 1 }),
  entry(['engine'], 'Never to be seen.', { enabled: false }),
  entry(['/eng.*/'], 'Never run.', { use_regex: true }),
  entry(['empty'], ''),
]

const data = {
  name: 'Ada',
  ...texts,
  creator_notes: '',
  system_prompt: '',
  post_history_instructions: '',
  alternate_greetings: ['Hello.'],
  group_only_greetings: [],
  tags: [],
  creator: '',
  character_version: '',
  extensions: {},
  character_book: { name: 'World', scan_depth: 3, extensions: { kept: true }, entries },
}
const card = { spec: 'chara_card_v3', spec_version: '3.0', data }

const provider: Answer = (_request, response) => json(response, 200, completion('Noted.'))

/** The messages of the last request that the provider received. */
function sent({ provider: { received } }: UserDaemon): { role: string; content: string }[] {
  return JSON.parse(received.at(-1)!.body).messages
}

async function bring(all: UserDaemon, body: unknown, query = '') {
  const { status, body: done } = await all.ada('POST', `/api/personas/import?model=m${query}`, body)
  assert.is(status, 201, JSON.stringify(done))
  return done
}

cards('brings the entries of its lorebook that the last messages call for, in their order, and constant ones', () =>
  withUsers(
    async (all) => {
      const { persona_id: persona, imported, left_out, warnings } = await bring(all, card)
      assert.equal(
        [imported.memories, left_out],
        [5, [{ what: 'lorebook entries without a text, kept in the card', count: 1 }]],
      )
      assert.equal(warnings.length, 2)
      const say = (content: string, more: object = {}) =>
        all.ada('POST', '/api/chat', { persona, messages: [{ role: 'user', content }], ...more })
      const { body } = await say('What is your ENGINE in London?')
      const [system, asked] = sent(all)
      assert.match(
        system!.content,
        /\n\nBackground of this part of the conversation:\n\nIt is the year 1842\.$/,
        'a constant entry is the same in each turn',
      )
      assert.match(
        asked!.content,
        /^\[Notes for you, [^\]]+\]\nBackground of this part of the conversation:\n\nLondon is full of smoke\.\n\nThe engine of Ada is made of brass\.\n\n\[The user's message\]\nWhat is your ENGINE in London\?$/,
      )
      assert.equal(pluck(body.aichat.memories, 'score'), [1, 1, 1])
      await say('What is london?')
      assert.match(sent(all)[0]!.content, /1842\.$/)
      assert.not.match(JSON.stringify(sent(all)), /smoke|brass|Never/)
      await say('An engine?', { memory: false })
      assert.not.match(sent(all)[0]!.content, /Background/)
    },
    { provider },
  ),
)

cards('is called by its nickname in lore too, and its last instructions end the talk, which keeps none of them', () =>
  withUsers(
    async (all) => {
      const more = { nickname: 'Countess', post_history_instructions: 'Stay {{char}}. {{original}}' }
      const { persona_id } = await bring(all, { ...card, data: { ...data, ...more } })
      const { body: exported } = await all.ada('POST', `/api/personas/${persona_id}/export`, {})
      const { persona_id: copy } = await bring(all, exported)
      for (const persona of [persona_id, copy]) {
        const { body: session } = await all.ada('POST', '/api/sessions', { persona })
        for (const content of ['What is your engine?', [{ type: 'text', text: 'And again?' }]])
          await all.ada('POST', '/api/chat', { session: session.id, messages: [{ role: 'user', content }] })
        const messages = sent(all)
        assert.match(JSON.stringify(messages.at(-1)), /The engine of Countess is made of brass/)
        assert.not.match(JSON.stringify(messages.slice(0, -1)), /Stay Countess\./)
        assert.match(JSON.stringify(messages.at(-1)), /And again\?.*Stay Countess\./)
        const { messages: kept } = (await all.ada('GET', `/api/sessions/${session.id}`)).body
        assert.match(kept[0].content, /I am Countess\.$/)
        assert.not.match(JSON.stringify(kept), /Stay Countess/)
      }
      const gone = { nickname: null, post_history_instructions: null }
      const { body: after } = await all.ada('PUT', `/api/personas/${copy}`, gone)
      assert.equal([after.nickname, after.post_history_instructions], [undefined, undefined])
    },
    { provider },
  ),
)

cards('knows of a change of its lore at once', () =>
  withUsers(
    async (all) => {
      const { persona_id: persona } = await bring(all, card)
      const ask = async () => {
        await all.ada('POST', '/api/chat', { persona, messages: [{ role: 'user', content: 'An engine, an owl?' }] })
        return sent(all).at(-1)!.content
      }
      assert.match(await ask(), /brass/)
      await all.ada('POST', `/api/personas/${persona}/memory`, {
        content: 'Owls are wise.',
        metadata: { keys: ['owl'] },
      })
      assert.match(await ask(), /brass[\s\S]*Owls are wise/)
      await all.ada('DELETE', `/api/personas/${persona}/memory?category=lore`)
      const after = await ask()
      assert.match(after, /Owls are wise/)
      assert.not.match(after, /brass|1842/)
      await all.ada('DELETE', `/api/personas/${persona}/memory`)
      assert.not.match(await ask(), /Background/)
    },
    { provider },
  ),
)

cards('greets in a new session, and a conversation that it begins starts with a user for the provider', () =>
  withUsers(
    async (all) => {
      const { persona_id: persona } = await bring(all, card)
      const { body: session } = await all.ada('POST', '/api/sessions', { persona, name: 'talk' })
      assert.is(session.message_count, 1)
      const greeting = { role: 'assistant', content: 'Good day, you. I am Ada.' }
      const { messages } = (await all.ada('GET', `/api/sessions/${session.id}`)).body
      assert.equal([messages[0].role, messages[0].content], [greeting.role, greeting.content])
      await all.ada('POST', '/api/chat', { session: 'talk', messages: [{ role: 'user', content: 'Good day!' }] })
      assert.equal(sent(all).slice(1), [
        { role: 'user', content: '[The conversation begins.]' },
        greeting,
        { role: 'user', content: 'Good day!' },
      ])
      const again = await all.ada('POST', '/api/sessions', { persona, name: 'talk', reuse: true })
      assert.is(again.body.message_count, 3, 'it greets once')
    },
    { provider },
  ),
)

cards('goes back as it came, with its lorebook from the memories', () =>
  withUsers(async (all) => {
    const { persona_id: persona } = await bring(all, card)
    const exported = async () => (await all.ada('POST', `/api/personas/${persona}/export`, { format: 'card' })).body
    const { data: back } = await exported()
    const byText = (list: { content: string }[]) => [...list].sort((a, b) => (a.content < b.content ? -1 : 1))
    assert.equal(byText(back.character_book.entries), byText(entries))
    assert.equal({ ...back.character_book, entries: [] }, { ...data.character_book, entries: [] })
    assert.is(back.first_mes, data.first_mes)
    await all.ada('POST', `/api/personas/${persona}/memory`, { content: 'A secret of the user.' })
    await all.ada('POST', `/api/personas/${persona}/memory`, {
      content: 'The engine of {{char}} is made of brass.',
      metadata: { keys: ['engine', 'machine'] },
    })
    const { data: changed } = await exported()
    assert.not.match(JSON.stringify(changed), /A secret/)
    const engine = changed.character_book.entries.find(({ id }: { id?: number }) => id === 3)
    assert.equal([engine.keys, engine.comment], [['engine', 'machine'], 'the engine'])
    const again = await bring(all, await exported(), '&name=Copy')
    assert.equal([again.name, again.imported.memories], ['Copy', 5])
  }),
)

const first = { name: 'Ada', ...texts, creatorcomment: 'kept' }
const picture = writePngTexts(plainPng(8), [
  { keyword: 'chara', text: Buffer.from(JSON.stringify(first)).toString('base64') },
])
async function upload(all: UserDaemon, bytes: Buffer) {
  const response = await fetch(`${all.url}/api/personas/import?model=m`, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream', authorization: 'Bearer ada' },
    body: new Uint8Array(bytes),
  })
  assert.is(response.status, 201)
  // biome-ignore lint/suspicious/noExplicitAny: the shapes are what is tested
  return (await response.json()) as any
}

for (const [name, file] of [
  ['a JSON file', Buffer.from(JSON.stringify(first))],
  ['a picture', picture],
] as const)
  cards(`of version 1 in ${name} is read, and written as version 3 with what it came with`, () =>
    withUsers(async (all) => {
      const { persona_id: persona, format } = await upload(all, file)
      assert.is(format, 'card')
      const { body } = await all.ada('POST', `/api/personas/${persona}/export`, { format: 'card' })
      assert.equal([body.spec, body.creatorcomment, body.data.first_mes], ['chara_card_v3', 'kept', texts.first_mes])
      assert.match(
        (await all.ada('GET', `/api/personas/${persona}`)).body.system_prompt,
        /^You are Ada\.[\s\S]*Personality: kind/,
      )
    }),
  )

cards.run()
