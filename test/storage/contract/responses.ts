import * as assert from 'uvu/assert'
import type { ChainBounds, Item, NewResponse, Reader, ResponseStore } from '../../../src/chat/responses/store.ts'
import { account, noon } from '../../helpers/storage/samples.ts'
import type { Rule } from './rule.ts'

/** Enough for every rule that is not about bounds. */
const plenty = { responses: 1_000, items: 1_000, bytes: 1e9 }
const ada: Reader = { owner: 'ada' }
const since = noon - 1_000

/** A conversation without items. */
const conversation: NewResponse = {
  owner: 'ada',
  response: { id: 'conv', status: 'completed', metadata: {}, output: [] },
  input: [],
  created_at: noon,
}

export const responseRules: readonly Rule[] = [
  {
    store: 'responses',
    topic: 'scopes',
    says: 'a response is read, continued, ended and removed by its owner alone, and by a key that made it',
    async holds(place) {
      const { responses } = await place.open()
      await responses.add(answered('r', { key: 'k1', unfinished: true }), plenty)
      for (const reader of [{ owner: 'eve' }, { owner: 'eve', key: 'k1' }, { owner: 'ada', key: 'k2' }]) {
        assert.is(await responses.find(reader, 'r', since), undefined)
        assert.is(await responses.input(reader, 'r', since, firstPage), undefined)
        assert.is(await responses.chain(reader, 'r', since, plenty), 'absent')
        assert.is((await itemsOf(responses, reader, ['msg_r', 'out_r'])).size, 0)
        assert.is(await responses.remove(reader, 'r'), false)
      }
      assert.is(await responses.finish('eve', answered('r').response), false)
      assert.is(await responses.finish('ada', answered('r').response), true)
      for (const reader of [ada, { owner: 'ada', key: 'k1' }]) {
        assert.is((await responses.find(reader, 'r', since))?.response.id, 'r')
        assert.is((await itemsOf(responses, reader, ['msg_r', 'out_r', 'other'])).size, 2)
      }
      assert.is(await responses.remove({ owner: 'ada', key: 'k1' }, 'r'), true)
      assert.is(await responses.find(ada, 'r', since), undefined)
    },
  },
  {
    store: 'responses',
    topic: 'scopes',
    says: 'the first administrator takes over what there was before, and a removed user takes the own along',
    async holds(place) {
      const { accounts, responses } = await place.open()
      await responses.add(answered('old', { owner: 'local' }), plenty)
      await accounts.insert(account('ada'), false)
      await accounts.insert(account('eve'), false)
      await responses.add(answered('hers', { owner: 'eve' }), plenty)
      assert.is((await responses.find(ada, 'old', since))?.response.id, 'old')
      assert.is(await accounts.remove('eve'), 'removed')
      assert.is(await responses.find({ owner: 'eve' }, 'hers', since), undefined)
      assert.equal(await responses.extent('eve'), { responses: 0, bytes: 0 })
      assert.is((await responses.extent('ada')).responses, 1)
      assert.is(await responses.removeAll('eve'), 0)
      assert.is(await responses.removeAll('ada'), 1)
      assert.is(await responses.find(ada, 'old', since), undefined)
    },
  },
  {
    store: 'responses',
    topic: 'order',
    says: 'a response is read as it was written, its fields in their order, and its input in pages both ways',
    async holds(place) {
      const { responses } = await place.open()
      const { response } = answered('r')
      const input = ['a', 'b', 'c'].map((id) => said(id, `text ${id}`))
      const outputs = { ...response, output: [said('x', 'one'), said('y', 'two')], tail: null }
      await responses.add({ ...answered('r'), response: outputs, input }, plenty)
      const found = await responses.find(ada, 'r', since)
      assert.is(JSON.stringify(found?.response), JSON.stringify(outputs))
      assert.equal([found?.finished, found?.created_at], [true, noon])
      const page = async (limit: number, order: 'asc' | 'desc', after?: string) => {
        const read = await responses.input(ada, 'r', since, { limit, order, after })
        return read && [read.items.map(({ id }) => id).join(''), read.more]
      }
      assert.equal(
        [await page(2, 'asc'), await page(2, 'asc', 'b')],
        [
          ['ab', true],
          ['c', false],
        ],
      )
      assert.equal(
        [await page(2, 'desc'), await page(2, 'desc', 'b')],
        [
          ['cb', true],
          ['a', false],
        ],
      )
      assert.equal(
        [await page(3, 'asc'), await page(3, 'asc', 'c')],
        [
          ['abc', false],
          ['', false],
        ],
      )
      assert.equal([await page(3, 'asc', 'x'), await page(3, 'asc', 'unknown')], [undefined, undefined])
    },
  },
  {
    store: 'responses',
    topic: 'order',
    says: 'the items behind a response are those of its own branch, the oldest first, input before output',
    async holds(place) {
      const { responses } = await place.open()
      await responses.add(answered('1'), plenty)
      await responses.add(answered('2', { previous: '1' }), plenty)
      await responses.add(answered('fork', { previous: '1' }), plenty)
      await responses.add(answered('3', { previous: '2' }), plenty)
      assert.equal(await chainOf(responses, '3'), ['msg_1', 'out_1', 'msg_2', 'out_2', 'msg_3', 'out_3'])
      assert.equal(await chainOf(responses, 'fork'), ['msg_1', 'out_1', 'msg_fork', 'out_fork'])
      assert.equal(await firstOf(responses, '3'), '1')
      assert.is(await responses.remove(ada, '2'), true)
      assert.is(await chainOf(responses, '3'), 'absent')
      assert.equal(await chainOf(responses, 'fork'), ['msg_1', 'out_1', 'msg_fork', 'out_fork'])
      assert.is((await responses.extent('ada')).responses, 3)
    },
  },
  {
    store: 'responses',
    topic: 'order',
    says: 'items are added to a conversation by clients and by answers, each with an id of its own, within bounds',
    async holds(place) {
      const { responses } = await place.open()
      await responses.add({ ...conversation, input: [said('a', 'one')] }, plenty)
      const append = (reader: Reader, ids: readonly string[], at = noon + 1) =>
        responses.append(reader, 'conv', since, { items: ids.map((id) => said(id, id)), at, most: plenty }, plenty)
      assert.equal(await append(ada, ['b', 'c']), [said('b', 'b'), said('c', 'c')])
      assert.equal(await append({ owner: 'eve' }, ['x']), 'absent')
      assert.equal(await append({ owner: 'ada', key: 'k' }, ['x']), 'absent')
      const [again, new1, new2] = (await append(ada, ['a', 'd', 'd'])) as Item[]
      assert.equal([again!.id === 'a', new1!.id, new2!.id === 'd'], [false, 'd', false])
      const full = { items: [said('x', 'x')], at: noon + 1 }
      for (const most of [
        { items: 6, bytes: 1e9 },
        { items: 1e3, bytes: 300 },
      ])
        assert.is(await responses.append(ada, 'conv', since, { ...full, most }, plenty), 'too_long')
      const appended = { conversation: 'conv', items: [said('e', 'asked'), said('f', 'answer')] }
      await responses.add({ ...answered('r'), appended }, plenty)
      await responses.add(answered('s', { unfinished: true }), plenty)
      const ended = { conversation: 'conv', items: [said('g', 'late')] }
      assert.is(await responses.finish('ada', answered('s').response, ended), true)
      assert.is(await responses.finish('ada', answered('s').response, ended), false)
      const chain = (await chainOf(responses, 'conv')) as readonly string[]
      assert.equal(chain, ['a', 'b', 'c', again!.id, 'd', new2!.id, 'e', 'f', 'g'])
      const before = await responses.extent('ada')
      assert.equal(await responses.item(ada, 'conv', since, 'f'), said('f', 'answer'))
      assert.is(await responses.item({ owner: 'eve' }, 'conv', since, 'f'), undefined)
      assert.is(await responses.removeItem({ owner: 'eve' }, 'conv', since, 'f'), false)
      assert.equal(
        [await responses.removeItem(ada, 'conv', since, 'f'), await responses.removeItem(ada, 'conv', since, 'f')],
        [true, false],
      )
      const removed = Buffer.byteLength(JSON.stringify(said('f', 'answer')))
      assert.equal(await responses.extent('ada'), { ...before, bytes: before.bytes - removed })
      assert.is((await responses.chain(ada, 'conv', since, { ...plenty, items: 8 })) === 'too_long', false)
      const labelled = { ...conversation.response, metadata: { topic: 'new' } }
      assert.is(await responses.describe({ owner: 'eve' }, labelled, since, noon), false)
      assert.is(await responses.describe(ada, labelled, since, noon + 2), true)
      assert.equal((await responses.find(ada, 'conv', since))?.response, labelled)
      // Each change counts as its making.
      assert.is((await responses.find(ada, 'conv', noon + 2))?.created_at, noon + 2)
      await responses.expire(noon + 2)
      assert.is((await responses.extent('ada')).responses, 1)
    },
  },
  {
    store: 'responses',
    topic: 'limits',
    says: 'a conversation that grows makes room by the threads unused for longest, and goes like one',
    async holds(place) {
      const { responses } = await place.open()
      await responses.add({ ...conversation, input: [] }, plenty)
      await responses.add(answered('old'), plenty)
      const { bytes } = await responses.extent('ada')
      const added = { items: [said('a', 'x')], at: noon + 1, most: plenty }
      await responses.append(ada, 'conv', since, added, { responses: 9, bytes })
      assert.is(await responses.find(ada, 'old', since), undefined)
      assert.equal(await chainOf(responses, 'conv'), ['a'])
      await responses.add(answered('new', { created_at: noon + 2 }), { responses: 1, bytes: 1e9 })
      assert.is(await responses.append(ada, 'conv', since, added, plenty), 'absent')
      await responses.add({ ...answered('next'), appended: { conversation: 'conv', items: [said('b', 'b')] } }, plenty)
      assert.is((await responses.extent('ada')).responses, 2)
    },
  },
  {
    store: 'responses',
    topic: 'ties',
    says: 'of items with one id the newest is read',
    async holds(place) {
      const { responses } = await place.open()
      for (const [id, text] of [
        ['1', 'first'],
        ['2', 'second'],
      ] as const)
        await responses.add({ ...answered(id), input: [said('same', text)] }, plenty)
      assert.equal((await itemsOf(responses, ada, ['same'])).get('same'), said('same', 'second'))
    },
  },
  {
    store: 'responses',
    topic: 'ties',
    says: 'an item is found beside any number of newer ones with its id, of other owners and keys',
    async holds(place) {
      const { responses } = await place.open()
      const same = (text: string, count = 1) => ({ input: Array.from({ length: count }, () => said('same', text)) })
      for (const id of ['1', '2']) await responses.add({ ...answered(id, { key: 'k1' }), ...same(id) }, plenty)
      await responses.add({ ...answered('eve', { owner: 'eve' }), ...same('hers', 200) }, plenty)
      await responses.add({ ...answered('3', { key: 'k2' }), ...same('other key', 200) }, plenty)
      const byKey = { owner: 'ada', key: 'k1' }
      assert.equal((await itemsOf(responses, byKey, ['same'])).get('same'), said('same', '2'))
      assert.is((await itemsOf(responses, { owner: 'bob' }, ['same'])).size, 0)
    },
  },
  {
    store: 'responses',
    topic: 'filters',
    says: 'a response from before a time is absent, but is read behind a later one until its thread is as old',
    async holds(place) {
      const { responses } = await place.open()
      await responses.add(answered('old', { created_at: noon - 10 }), plenty)
      await responses.add(answered('new', { previous: 'old' }), plenty)
      await responses.add(answered('lone', { created_at: noon - 10 }), plenty)
      await responses.expire(noon)
      assert.is(await responses.find(ada, 'old', noon), undefined)
      assert.is(await responses.input(ada, 'old', noon, firstPage), undefined)
      assert.is((await itemsOf(responses, ada, ['msg_old'], noon)).size, 0)
      assert.is(await responses.chain(ada, 'old', noon, plenty), 'absent')
      assert.equal(await chainOf(responses, 'new', noon), ['msg_old', 'out_old', 'msg_new', 'out_new'])
      assert.is(await responses.find(ada, 'lone', since), undefined, 'removed')
      await responses.expire(noon + 1)
      assert.equal(await responses.extent('ada'), { responses: 0, bytes: 0 })
      assert.is(await responses.find(ada, 'new', since), undefined)
    },
  },
  {
    store: 'responses',
    topic: 'limits',
    says: 'of too many responses, or bytes, the thread goes that was not continued for longest, the others stay whole',
    async holds(place) {
      const { responses } = await place.open()
      const three = { responses: 3, bytes: 1e9 }
      await responses.add(answered('a1', { created_at: noon }), three)
      await responses.add(answered('b1', { created_at: noon + 1 }), three)
      await responses.add(answered('a2', { created_at: noon + 2, previous: 'a1' }), three)
      await responses.add(answered('eve', { owner: 'eve', created_at: noon - 5 }), three)
      await responses.add(answered('c1', { created_at: noon + 3 }), three)
      assert.is(await responses.find(ada, 'b1', since), undefined)
      assert.equal(await chainOf(responses, 'a2'), ['msg_a1', 'out_a1', 'msg_a2', 'out_a2'])
      assert.is((await responses.extent('ada')).responses, 3)
      assert.is((await responses.extent('eve')).responses, 1)
      const { bytes } = await responses.extent('eve')
      await responses.add(answered('d1', { created_at: noon + 4 }), { responses: 9, bytes: bytes * 2 })
      assert.is(await responses.find(ada, 'a2', since), undefined)
      assert.ok((await responses.extent('ada')).bytes <= bytes * 2)
      assert.ok(await responses.find(ada, 'c1', since))
    },
  },
  {
    store: 'responses',
    topic: 'limits',
    says: 'a thread that is too long by itself loses its oldest responses, never the one just added',
    async holds(place) {
      const { responses } = await place.open()
      const two = { responses: 2, bytes: 1e9 }
      for (const [id, previous] of [['1'], ['2', '1'], ['3', '2']] as const)
        await responses.add(answered(id, { previous }), two)
      assert.equal([await chainOf(responses, '3'), (await responses.extent('ada')).responses], ['absent', 2])
      await responses.add(answered('4', { previous: '3' }), { responses: 2, bytes: 1 })
      assert.is((await responses.find(ada, '4', since))?.response.id, '4')
      assert.is((await responses.extent('ada')).responses, 1)
    },
  },
  {
    store: 'responses',
    topic: 'limits',
    says: 'no more is read behind a response, or by references, than is allowed, and its bytes are told before',
    async holds(place) {
      const { responses } = await place.open()
      await responses.add(answered('1'), plenty)
      await responses.add(answered('2', { previous: '1' }), plenty)
      const chain = (bounds: Partial<ChainBounds>) =>
        responses
          .chain(ada, '2', since, { ...plenty, ...bounds })
          .then((read) => (typeof read === 'string' ? read : read.items.length))
      assert.equal([await chain({ responses: 1 }), await chain({ responses: 2 })], ['too_long', 4])
      assert.equal([await chain({ items: 3 }), await chain({ items: 4 })], ['too_long', 4])
      const { bytes } = await responses.extent('ada')
      assert.equal([await chain({ bytes: bytes - 1 }), await chain({ bytes })], ['too_long', 4])
      let told = 0
      await chain({ charge: (more) => (told += more) })
      assert.is(told, bytes)
      assert.is(await responses.items(ada, ['msg_1', 'out_1'], since, { bytes: 100 }), 'too_long')
      assert.is((await responses.items(ada, ['msg_1'], since, { bytes: 100 })) !== 'too_long', true)
    },
  },
  {
    store: 'responses',
    topic: 'concurrency',
    says: 'an unfinished response cannot be continued; of two ends one counts, and none after its removal',
    async holds(place) {
      const [{ responses }, { responses: other }] = [await place.open(), await place.open()]
      await responses.add(answered('r', { unfinished: true, status: 'queued' }), plenty)
      assert.is((await other.find(ada, 'r', since))?.finished, false)
      assert.is(await other.chain(ada, 'r', since, plenty), 'unfinished')
      assert.equal(await other.orphans(noon + 1), [], 'its process lives')
      const ends = await Promise.all([
        responses.finish('ada', answered('r').response),
        other.finish('ada', answered('r').response),
      ])
      assert.equal(ends.sort(), [false, true])
      const { response, finished } = (await other.find(ada, 'r', since))!
      assert.equal([response.status, response.output.length, finished], ['completed', 1, true])
      assert.equal(await chainOf(other, 'r'), ['msg_r', 'out_r'])
      await responses.add(answered('s', { unfinished: true }), plenty)
      await other.remove(ada, 's')
      assert.is(await responses.finish('ada', answered('s').response), false)
      const before = await responses.extent('ada')
      await responses.remove(ada, 'r')
      assert.equal([before.responses, await other.extent('ada')], [1, { responses: 0, bytes: 0 }])
    },
  },
]

const firstPage = { limit: 10, order: 'asc' } as const

interface More extends Partial<Omit<NewResponse, 'response' | 'input' | 'previous'>> {
  readonly previous?: string | undefined
  readonly status?: string
}

/** A response with one item of input, `msg_ID`, and one of output, `out_ID`, unless it is unfinished. */
export function answered(id: string, { status = 'completed', ...more }: More = {}): NewResponse {
  const output = more.unfinished ? [] : [said(`out_${id}`, 'Hello')]
  return {
    owner: 'ada',
    created_at: noon,
    response: { id, object: 'response', status, output, model: 'm' },
    input: [said(`msg_${id}`, 'Hi')],
    ...more,
  }
}

function said(id: string, text: string): Item {
  return { type: 'message', id, role: 'user', content: [{ type: 'input_text', text }] }
}

async function chainOf(responses: ResponseStore, id: string, from = since) {
  const chain = await responses.chain(ada, id, from, plenty)
  return typeof chain === 'string' ? chain : chain.items.map((item) => item.id)
}

async function firstOf(responses: ResponseStore, id: string) {
  const chain = await responses.chain(ada, id, since, plenty)
  return typeof chain === 'string' ? chain : chain.first
}

async function itemsOf(responses: ResponseStore, reader: Reader, ids: readonly string[], from = since) {
  const found = await responses.items(reader, ids, from, plenty)
  return found === 'too_long' ? new Map<string, Item>() : found
}
