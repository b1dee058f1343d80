import * as assert from 'uvu/assert'
import { dataUrl } from '../../../src/formats/data-url.ts'
import type { SavedMessage } from '../../../src/personas/chat/conversation.ts'
import { withFilesApart } from '../../../src/personas/chat/kept-files.ts'
import { readSearch } from '../../../src/personas/chat/search-words.ts'
import type { Storage } from '../../../src/storage/open-storage.ts'
import { pluck } from '../../helpers/pluck.ts'
import { makeScope, noon } from '../../helpers/storage/samples.ts'
import type { Rule } from './rule.ts'

export const conversationRules: readonly Rule[] = [
  {
    store: 'conversations',
    topic: 'scopes',
    says: 'a conversation is listed, read, continued, renamed and removed by its owner alone',
    async holds(place) {
      const { conversations } = await place.open()
      assert.ok(await conversations.create(talk('c')))
      assert.ok(await conversations.append('ada', 'c', [said('hello')]))
      assert.is(await conversations.append('eve', 'c', [said('intruder')]), undefined)
      assert.not.ok(await conversations.rename('eve', 'c', 'stolen'))
      assert.not.ok(await conversations.remove('eve', 'c'))
      assert.equal(await conversations.messages('eve', 'c'), [])
      assert.is(await conversations.named('eve', 'c'), undefined)
      assert.is((await conversations.list('eve', 10, 0)).total, 0)
      assert.equal(await conversations.messages('ada', 'c'), [said('hello')])
      assert.ok(await conversations.create({ ...talk('d'), user_id: 'eve', name: 'c' }))
      assert.ok(await conversations.remove('ada', 'c'))
      assert.is(await conversations.find('c'), undefined)
      assert.is((await conversations.find('d'))?.name, 'c')
    },
  },
  {
    store: 'conversations',
    topic: 'order',
    says: 'a message keeps its cost, also one of nothing, and has none where none is known',
    async holds(place) {
      const { conversations } = await place.open()
      await conversations.create(talk('c'))
      const messages = [said('asked'), { ...said('dear'), cost: 250_000_000 }, { ...said('free'), cost: 0 }]
      await conversations.append('ada', 'c', messages)
      assert.equal(await conversations.messages('ada', 'c'), messages)
    },
  },
  {
    store: 'conversations',
    topic: 'order',
    says: 'an answer keeps its circumstances, and the memories that were recorded later',
    async holds(place) {
      const { conversations } = await place.open()
      await conversations.create(talk('c'))
      const cut = { ...said('half'), answer: { cut: true, persona_id: 'p' } } as const
      await conversations.append('ada', 'c', [said('asked'), cut, said('again'), said('whole')])
      await conversations.recordMemories('ada', 'c', 4, ['m', 'n'])
      await conversations.recordMemories('ada', 'c', 2, ['o'])
      await conversations.recordMemories('ada', 'c', 5, ['nowhere'])
      await conversations.recordMemories('eve', 'c', 1, ['hers'])
      assert.equal(await conversations.messages('ada', 'c'), [
        said('asked'),
        { ...cut, answer: { ...cut.answer, memories: ['o'] } },
        said('again'),
        { ...said('whole'), answer: { memories: ['m', 'n'] } },
      ])
      const part = await conversations.messages('ada', 'c', { after: 2, upTo: 3 })
      assert.equal([part, await conversations.messages('eve', 'c', { after: 0 })], [[said('again')], []])
    },
  },
  {
    store: 'conversations',
    topic: 'order',
    says: "the user's last message is taken back with all behind it, and the next one follows what is left",
    async holds(place) {
      const { conversations } = await place.open()
      await conversations.create(talk('c'))
      const answered = (content: string): SavedMessage => ({
        message: { role: 'assistant', content },
        timestamp: noon,
        cost: 5,
        answer: { memories: [content] },
      })
      await conversations.append('ada', 'c', [answered('hello'), said('one'), answered('two')])
      await conversations.append('ada', 'c', [said('three'), answered('four'), answered('five')])
      assert.equal(await conversations.takeBack('ada', 'c', 6), [said('three'), answered('four'), answered('five')])
      assert.is((await conversations.find('c'))!.messages, 3)
      assert.is(await conversations.append('ada', 'c', [said('six')]), 4)
      assert.equal(await conversations.takeBack('ada', 'c', undefined), [said('six')])
      assert.equal(await conversations.takeBack('ada', 'c', 3), [said('one'), answered('two')])
      assert.equal(await conversations.takeBack('ada', 'c', 1), [])
      assert.equal(await conversations.messages('ada', 'c'), [answered('hello')])
      assert.is(await conversations.takeBack('eve', 'c', undefined), undefined)
      assert.is(await conversations.takeBack('ada', 'gone', undefined), undefined)
    },
  },
  {
    store: 'conversations',
    topic: 'order',
    says: 'a branch has copies of the first messages with their files, and is found with its family',
    async holds(place) {
      const { conversations } = await place.open()
      const url = dataUrl('image/png', Buffer.from('a picture').toString('base64'))
      const picture = await withFilesApart({ role: 'user', content: [{ type: 'image_url', image_url: { url } }] })
      const answer = { ...said('seen'), answer: { model: 'm', memories: ['of the first'] } }
      await conversations.create(talk('c'))
      await conversations.append('ada', 'c', [{ ...picture, timestamp: noon }, answer, said('more')])
      const branch = { root: 'c', of: 'c', at: 2 }
      const of = { id: 'd', user_id: 'ada', branch, created_at: noon + 1 }
      assert.is(await conversations.branch(of, 'c', ['c', 'other']), 'other')
      assert.equal(await conversations.messages('ada', 'd'), [
        { message: picture.message, timestamp: noon },
        { ...said('seen'), answer: { model: 'm' } },
      ])
      const [file] = picture.files
      assert.is((await conversations.files('ada', 'd', [file!.hash])).size, 1)
      const names = async (owner: string) => (await conversations.family(owner, 'c')).map(({ name }) => name)
      assert.equal([await names('ada'), await names('eve')], [['c', 'other'], []])
      assert.equal((await conversations.find('d'))?.branch, branch)
      await conversations.remove('ada', 'c')
      assert.equal(await names('ada'), ['other'])
    },
  },
  {
    store: 'conversations',
    topic: 'concurrency',
    says: 'a write that states another number of messages changes nothing; of many that state the right one, one succeeds',
    async holds(place) {
      const both = [await place.open(), await place.open()]
      const { conversations } = both[0]!
      await conversations.create(talk('c'))
      assert.is(await conversations.append('ada', 'c', [said('one'), said('two')], 0), 2)
      assert.is(await conversations.append('ada', 'c', [said('late')], 0), undefined)
      assert.is(await conversations.takeBack('ada', 'c', 1), undefined)
      const done = await Promise.all(
        Array.from({ length: 6 }, (_, at) => both[at % 2]!.conversations.append('ada', 'c', [said(`m${at}`)], 2)),
      )
      assert.equal(
        done.filter((number) => number !== undefined),
        [3],
      )
      const taken = await Promise.all(both.map((each) => each.conversations.takeBack('ada', 'c', 3)))
      assert.is(taken.filter(Boolean).length, 1)
      assert.is((await conversations.find('c'))?.messages, 2)
    },
  },
  {
    store: 'conversations',
    topic: 'scopes',
    says: 'a conversation outlives its persona and forgets it',
    async holds(place) {
      const storage = await place.open()
      await makeScope(storage, 'p')
      await storage.conversations.create({ ...talk('c'), persona_id: 'p' })
      assert.is((await storage.conversations.find('c'))?.persona_id, 'p')
      await storage.personas.remove('p', 'ada')
      assert.equal(Object.keys((await storage.conversations.find('c'))!).includes('persona_id'), false)
    },
  },
  {
    store: 'conversations',
    topic: 'order',
    says: 'the conversation with the newest message is listed first, and messages stay in the order of their saving',
    async holds(place) {
      const { conversations } = await place.open()
      for (const id of ['a', 'b', 'c']) await conversations.create(talk(id))
      await conversations.append('ada', 'b', [said('two', 20), said('one', 10)])
      await conversations.append('ada', 'c', [said('three', 30)])
      await conversations.append('ada', 'b', [said('late', 5)])
      const { conversations: listed } = await conversations.list('ada', 10, 0)
      assert.equal(
        listed.map(({ id, messages, updated_at }) => [id, messages, updated_at - noon]),
        [
          ['c', 1, 30],
          ['b', 3, 20],
          ['a', 0, 0],
        ],
      )
      assert.equal(await conversations.messages('ada', 'b'), [said('two', 20), said('one', 10), said('late', 5)])
    },
  },
  {
    store: 'conversations',
    topic: 'order',
    says: 'a kept conversation takes the first free name; renamed or continued it is one of the others',
    async holds(place) {
      const { conversations } = await place.open()
      await conversations.create({ ...talk('named'), name: 'hi' })
      const keep = (id: string, after: number, most: number) =>
        conversations.keep(
          { id, user_id: 'ada', created_at: noon + after },
          ['hi', 'hi 2', `hi ${id}`],
          [said('hi', after), { ...said('hello', after), cost: 5 }],
          most,
        )
      assert.equal([await keep('a', 1, 9), await keep('b', 2, 9), await keep('c', 3, 9)], ['hi 2', 'hi b', 'hi c'])
      assert.equal(await conversations.messages('ada', 'a'), [said('hi', 1), { ...said('hello', 1), cost: 5 }])
      assert.is((await conversations.find('a'))!.messages, 2)
      await conversations.rename('ada', 'a', 'mine')
      await conversations.append('ada', 'b', [said('more', 2)])
      assert.is(await conversations.keep({ ...talk('taken'), id: 'd' }, ['mine', 'hi b'], [said('x')], 9), undefined)
      assert.is(await conversations.find('d'), undefined)
      assert.is(await keep('e', 4, 1), 'hi 2')
      const { conversations: left } = await conversations.list('ada', 10, 0)
      assert.equal(
        left.map(({ id }) => id),
        ['e', 'b', 'a', 'named'],
      )
    },
  },
  {
    store: 'conversations',
    topic: 'filters',
    says: "a search finds the owner's messages that hold all words, the last saved first, in pages",
    async holds(place) {
      const storage = await place.open()
      const { conversations } = storage
      await makeScope(storage, 'p')
      await conversations.create({ ...talk('a'), persona_id: 'p' })
      await conversations.create({ ...talk('b'), user_id: 'eve' })
      await conversations.append('ada', 'a', [
        said('A train to Zürich', 1),
        { message: { role: 'assistant', content: 'The night train leaves at ten' }, timestamp: noon + 2, cost: 5 },
        { message: { role: 'tool', content: 'train' }, timestamp: noon + 3 },
      ])
      await conversations.append('eve', 'b', [said('a night train of hers', 4)])
      await conversations.keep({ ...talk('c'), user_id: 'ada' }, ['c'], [said('trains by night and a train', 5)], 9)
      const numbers = async (query: string, more: object = {}) =>
        (await conversations.search('ada', { groups: readSearch(query), limit: 10, offset: 0, ...more })).map(
          ({ conversation, number }) => `${conversation.id}${number}`,
        )
      assert.equal(await numbers('train'), ['c1', 'a2', 'a1'])
      assert.equal(await numbers('train', { limit: 1, offset: 1 }), ['a2'])
      assert.equal(await numbers('NIGHT train'), ['c1', 'a2'])
      assert.equal(await numbers('"night train"'), ['a2'])
      assert.equal(await numbers('zurich'), ['a1'])
      assert.equal(await numbers('trai'), [])
      assert.equal(await numbers('trai* lea*'), ['a2'])
      assert.equal(await numbers('train', { since: noon + 2 }), ['c1', 'a2'])
      assert.equal(await numbers('train', { personas: ['p'] }), ['a2', 'a1'])
      assert.equal(await numbers('train', { personas: [] }), [])
      assert.equal(await numbers('…'), [])
      const [hit] = await conversations.search('ada', { groups: readSearch('leaves'), limit: 1, offset: 0 })
      assert.equal(hit?.conversation, { id: 'a', name: 'a', persona_id: 'p' })
      assert.equal([hit?.saved.timestamp, hit?.saved.cost], [noon + 2, 5])
    },
  },
  {
    store: 'conversations',
    topic: 'filters',
    says: 'messages are no longer found once they were taken back, or their conversation or its owner was removed',
    async holds(place) {
      const storage = await place.open()
      const { conversations } = storage
      for (const id of ['a', 'b', 'c']) {
        await conversations.create(talk(id))
        await conversations.append('ada', id, [said(`train ${id}`, id.charCodeAt(0) - 97)])
      }
      assert.equal(await found(storage, 'ada'), ['train c', 'train b', 'train a'])
      await conversations.takeBack('ada', 'b', 1)
      assert.equal(await found(storage, 'ada'), ['train c', 'train a'])
      await conversations.remove('ada', 'c')
      assert.equal(await found(storage, 'ada'), ['train a'])
      await conversations.append('ada', 'b', [said('train again', 9)])
      assert.is(await conversations.removeBefore('ada', noon + 9), 1)
      assert.equal(await found(storage, 'ada'), ['train again'])
      assert.is(await conversations.removeBefore('eve', undefined), 0)
      assert.is(await conversations.removeBefore('ada', undefined), 1)
      assert.equal(await found(storage, 'ada'), [])
    },
  },
  {
    store: 'conversations',
    topic: 'ties',
    says: 'conversations of one moment are listed by their ids',
    async holds(place) {
      const { conversations } = await place.open()
      for (const id of ['c', 'B', 'a']) await conversations.create(talk(id))
      const { conversations: listed } = await conversations.list('ada', 10, 0)
      assert.equal(
        listed.map(({ id }) => id),
        ['B', 'a', 'c'],
      )
    },
  },
  {
    store: 'conversations',
    topic: 'limits',
    says: 'a page holds as many conversations as were asked for, with the number of all; a name is given once',
    async holds(place) {
      const { conversations } = await place.open()
      for (const id of ['a', 'b', 'c', 'd']) await conversations.create(talk(id))
      const { conversations: listed, total } = await conversations.list('ada', 2, 1)
      assert.equal([listed.map(({ id }) => id), total], [['b', 'c'], 4])
      for (const [id, persona_id] of [
        ['p1', 'p'],
        ['q1', 'q'],
        ['p2', 'p'],
      ] as const)
        await conversations.create({ ...talk(id), persona_id })
      const among = await conversations.list('ada', 1, 1, { personas: ['p', 'none'] })
      assert.equal([among.conversations.map(({ id }) => id), among.total], [['p2'], 2])
      assert.is((await conversations.list('ada', 9, 0, { personas: [] })).total, 0)
      await conversations.pin('ada', 'c', true)
      await conversations.pin('eve', 'd', true)
      const { conversations: pinned } = await conversations.list('ada', 9, 0, { pinned: true })
      assert.equal(pluck(pinned, 'id', 'pinned'), [['c', true]])
      await conversations.pin('ada', 'c', false)
      assert.is((await conversations.list('ada', 9, 0, { pinned: true })).total, 0)
      assert.ok(await conversations.rename('ada', 'd', 'Élan, 100% über'))
      for (const [words, found] of [
        [['élan', 'ÜBER', '0%'], 1],
        [['élan', 'none'], 0],
        [['1_0'], 0],
        [['a\0b'], 0],
      ] as const)
        assert.is((await conversations.list('ada', 9, 0, { words })).total, found, words.join(' '))
      assert.not.ok(await conversations.create({ ...talk('e'), name: 'a' }))
      assert.not.ok(await conversations.rename('ada', 'b', 'a'))
      assert.ok(await conversations.rename('ada', 'b', 'z'))
      assert.is((await conversations.named('ada', 'z'))?.id, 'b')
    },
  },
  {
    store: 'conversations',
    topic: 'order',
    says: 'a name is found in either form of its accents, first as it is written',
    async holds(place) {
      const { conversations } = await place.open()
      const named = async (name: string) => (await conversations.named('ada', name))?.id
      const [composed, decomposed] = ['Caf\u00e9', 'Cafe\u0301']
      assert.ok(await conversations.create({ ...talk('a'), name: decomposed }))
      assert.equal([await named(composed), await named(decomposed)], ['a', 'a'])
      assert.is((await conversations.find('a'))?.name, decomposed)
      assert.ok(await conversations.create({ ...talk('b'), name: composed }))
      assert.equal([await named(composed), await named(decomposed)], ['b', 'a'])
      assert.ok(await conversations.remove('ada', 'a'))
      assert.equal([await named(composed), await named(decomposed)], ['b', 'b'])
      assert.equal([await named('Cafe'), await conversations.named('eve', composed)], [undefined, undefined])
    },
  },
  {
    store: 'conversations',
    topic: 'order',
    says: 'a file is kept once in a conversation, read by its owner alone, and gone with the last message that names it',
    async holds(place) {
      const { conversations } = await place.open()
      for (const id of ['c', 'd']) await conversations.create(talk(id))
      const [one, two] = await Promise.all([shown('one'), shown('two')])
      const hash = one.files![0]!.hash
      const kept = async (owner: string, id: string) =>
        [...(await conversations.files(owner, id, [hash, two.files![0]!.hash, 'x']))].map(([, bytes]) =>
          Buffer.from(bytes).toString(),
        )
      await conversations.append('ada', 'c', [one, said('and'), one, two])
      await conversations.append('ada', 'd', [one])
      assert.equal((await kept('ada', 'c')).sort(), ['one', 'two'])
      assert.equal(await kept('eve', 'c'), [])
      assert.equal(await conversations.messages('ada', 'd'), [{ message: one.message, timestamp: noon }])
      await conversations.takeBack('ada', 'c', undefined)
      await conversations.takeBack('ada', 'c', undefined)
      assert.equal(await kept('ada', 'c'), ['one'])
      await conversations.takeBack('ada', 'c', undefined)
      await conversations.takeBack('ada', 'c', undefined)
      assert.equal(await kept('ada', 'c'), [])
      assert.equal(await kept('ada', 'd'), ['one'])
      await conversations.remove('ada', 'd')
      assert.equal(await kept('ada', 'd'), [])
    },
  },
  {
    store: 'conversations',
    topic: 'concurrency',
    says: 'over two connections a name is given once, and no message is lost',
    async holds(place) {
      const both = [await place.open(), await place.open()]
      const made = await Promise.all(
        Array.from({ length: 6 }, (_, at) => both[at % 2]!.conversations.create({ ...talk(`c${at}`), name: 'Trip' })),
      )
      assert.is(made.filter(Boolean).length, 1)
      const { id } = (await both[0]!.conversations.named('ada', 'Trip'))!
      await Promise.all(
        Array.from({ length: 20 }, (_, at) => both[at % 2]!.conversations.append('ada', id, [said(`m${at}`)])),
      )
      const texts = (await both[1]!.conversations.messages('ada', id)).map(({ message }) => message.content)
      assert.equal([...texts].sort(), Array.from({ length: 20 }, (_, at) => `m${at}`).sort())
    },
  },
]

async function found({ conversations }: Storage, owner: string): Promise<readonly unknown[]> {
  const hits = await conversations.search(owner, { groups: readSearch('train'), limit: 10, offset: 0 })
  return hits.map(({ saved }) => saved.message.content)
}

function talk(id: string) {
  return { id, user_id: 'ada', name: id, created_at: noon }
}

/** A message with a picture of these bytes, as it is stored. */
async function shown(bytes: string): Promise<SavedMessage> {
  const url = dataUrl('image/png', Buffer.from(bytes).toString('base64'))
  const message = { role: 'user' as const, content: [{ type: 'image_url', image_url: { url } }] }
  return { ...(await withFilesApart(message)), timestamp: noon }
}

function said(content: string, after = 0): SavedMessage {
  return { message: { role: 'user', content }, timestamp: noon + after }
}
