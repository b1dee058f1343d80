// Some with --all only: many processes.
import * as assert from 'uvu/assert'
import { pluck } from '../helpers/pluck.ts'
import { openUsers, withUsers } from '../helpers/program/user-daemon.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('one memory over HTTP')

test('a memory is shown, edited and removed by its id, and found by its new words alone', () =>
  withUsers(async ({ ada, persona }) => {
    const path = `${await persona()}/memory`
    const metadata = { category: 'pets', colour: 'grey', speaker: 'Ada' }
    const {
      embedding,
      evicted: _evicted,
      ...entry
    } = (await ada('POST', path, { content: 'Mog likes tuna.', metadata })).body
    assert.equal((await ada('GET', `${path}/${entry.id}`)).body, entry)
    assert.equal((await ada('GET', `${path}/${entry.id}?include=embedding`)).body, { ...entry, embedding })
    const change = { content: ' The dog is called Rex. ', importance_score: 0.9, timestamp: 1000 }
    const edited = await ada('PUT', `${path}/${entry.id}`, { ...change, metadata: { category: 'dogs', colour: null } })
    assert.is(edited.status, 200)
    assert.equal(edited.body, {
      ...entry,
      content: 'The dog is called Rex.',
      importance_score: 0.9,
      timestamp: 1000,
      metadata: { category: 'dogs', speaker: 'Ada' },
    })
    const search = async (query: string) => (await ada('POST', `${path}/search`, { query })).body.results
    assert.equal(pluck(await search('dog Rex'), 'content'), [change.content.trim()])
    assert.is((await search('tuna'))[0]?.parts.lexical ?? 0, 0)
    const after = (await ada('GET', `${path}/${entry.id}?include=embedding`)).body
    assert.equal([after.embedding_status, after.embedding.length], ['ready', embedding.length])
    assert.not.equal(after.embedding, embedding)
    assert.equal((await ada('PUT', `${path}/${entry.id}`, {})).body, edited.body)
    assert.equal((await ada('DELETE', `${path}/${entry.id}`)).body, {
      deleted: 1,
      may_remain_in: ['exported packages'],
    })
    for (const method of ['GET', 'PUT', 'DELETE'])
      assert.is((await ada(method, `${path}/${entry.id}`, method === 'PUT' ? { content: 'x' } : undefined)).status, 404)
    assert.equal((await ada('GET', path)).body, { memories: [], total: 0 })
  }))

test('an edit that would leave no memory is refused with its reasons, and changes nothing', () =>
  withUsers(async ({ ada, persona }) => {
    const path = `${await persona()}/memory`
    const {
      evicted: _evicted,
      embedding: _embedding,
      ...entry
    } = (await ada('POST', path, { content: 'tea', metadata: { valid_from: 1000, pinned: true } })).body
    for (const [change, reason] of [
      [{ content: '' }, /content: must not be empty/],
      [{ content: ' \n\u3000' }, /content: must not be empty/],
      [{ content: 'x'.repeat(20_001) }, /content: /],
      [{ timestamp: 8_640_000_000_000_000 }, /timestamp: must be a time from 1970 to the end of 9999/],
      [{ timestamp: -1 }, /timestamp: must be a time from 1970/],
      [{ importance_score: 1.1 }, /importance_score: /],
      [{ metadata: { pinned: 'yes' } }, /metadata\.pinned: /],
      [{ metadata: { valid_to: '2024' } }, /metadata\.valid_to: must be a time/],
      [{ metadata: { valid_to: 999 } }, /metadata\.valid_to: must not be before valid_from/],
      [{ metadata: { x: 'y'.repeat(10_000) } }, /metadata: must not be longer/],
      [{ user_id: 'bob-2' }, /user_id/],
    ] as const) {
      const { status, body } = await ada('PUT', `${path}/${entry.id}`, change)
      assert.is(status, 400, JSON.stringify(change).slice(0, 60))
      assert.match(body.details.join(), reason)
    }
    assert.equal((await ada('GET', `${path}/${entry.id}`)).body, entry)
    const valid = await ada('PUT', `${path}/${entry.id}`, { metadata: { valid_from: 2000, valid_to: 2000 } })
    assert.equal(valid.body.metadata, { valid_from: 2000, pinned: true, valid_to: 2000 })
    const { id } = (await ada('POST', path, { content: 'cocoa' })).body
    const same = await ada('PUT', `${path}/${id}`, { content: 'tea ' })
    assert.equal([same.status, same.body.error], [400, `The memory ${entry.id} has the same text already`])
  }))

test('lists and searches take the same conditions, and a misspelt one is refused', () =>
  withUsers(async ({ ada, persona }) => {
    const path = `${await persona()}/memory`
    const add = (content: string, timestamp: number, metadata = {}) =>
      ada('POST', path, { content, timestamp, metadata })
    await add('tea at noon', 1000, { category: 'drinks', speaker: 'Ada', conversation: 'c1' })
    await add('tea at five', 2000, { category: 'drinks', pinned: true })
    await add('tea for two', 3000, { speaker: 'Bob' })
    const found = async (filter: Record<string, unknown>) => {
      const texts = Object.entries(filter).map(([name, value]): [string, string] => [name, String(value)])
      const listed = await ada('GET', `${path}?${new URLSearchParams(texts)}`)
      const searched = await ada('POST', `${path}/search`, { query: 'tea', ...filter })
      assert.equal([listed.status, searched.status], [200, 200], JSON.stringify([listed.body, searched.body]))
      const contents = (entries: { content: string }[]) =>
        entries.map(({ content }) => content.split(' ').at(-1)).sort()
      assert.equal(contents(searched.body.results), contents(listed.body.memories))
      assert.is(listed.body.total, listed.body.memories.length)
      return contents(listed.body.memories).join(' ')
    }
    assert.is(await found({ category: 'drinks' }), 'five noon')
    assert.is(await found({ speaker: 'Ada' }), 'noon')
    assert.is(await found({ conversation: '', speaker: 'Bob' }), 'two')
    assert.is(await found({ after: 2000 }), 'five two')
    assert.is(await found({ before: 2000 }), 'noon')
    assert.is(await found({ pinned: true }), 'five')
    assert.is(await found({ pinned: false, category: 'drinks' }), 'noon')
    assert.is(await found({ speaker: 'ada' }), '')
    for (const query of ['categroy=drinks', 'after=soon', 'pinned=perhaps', 'after=2024-13-08'])
      assert.is((await ada('GET', `${path}?${query}`)).status, 400, query)
    assert.is((await ada('POST', `${path}/search`, { query: 'tea', speakers: 'Ada' })).status, 400)
  }))

test('a batch is added whole, renews what is there, and evicts what is beyond the limit', () =>
  withUsers(async ({ ada, bob, persona }) => {
    const path = `${await persona({ memory_settings: { max_memories: 50 } })}/memory`
    const lines = (count: number, word = 'thing') =>
      Array.from({ length: count }, (_, at) => ({ content: `${word} ${at}`, timestamp: 1000 + at }))
    const first = await ada('POST', `${path}/batch`, { memories: lines(40) })
    assert.equal([first.status, first.body], [201, { added: 40, updated: 0, evicted: 0 }])
    const again = await ada('POST', `${path}/batch`, { memories: lines(45) })
    assert.equal(again.body, { added: 5, updated: 40, evicted: 0 })
    const more = await ada('POST', `${path}/batch`, { memories: lines(10, 'other') })
    assert.equal(more.body, { added: 10, updated: 0, evicted: 5 })
    const { memories, total } = (await ada('GET', path)).body
    assert.is(total, 50)
    assert.ok(memories.every((one: { embedding_status: string }) => one.embedding_status === 'ready'))
    assert.is((await bob('POST', `${path}/batch`, { memories: lines(1) })).status, 403)
  }))

test.whole('a batch that breaks a rule or a limit stores nothing and evicts nothing', async () => {
  await using users = await openUsers({ environment: { AICHAT_LIMIT_STORED_MEMORIES_PER_USER: '100' } })
  const { ada, persona } = users
  const home = await persona({ memory_settings: { max_memories: 40, auto_cleanup: false } })
  const path = `${home}/memory`
  await ada('POST', path, { content: 'there before' })
  const refused = async (memories: readonly unknown[], status: number, reason: RegExp) => {
    const { status: answered, body } = await ada('POST', `${path}/batch`, { memories })
    assert.is(answered, status, JSON.stringify(body))
    assert.match([body.error, ...body.details].join(), reason)
    assert.is((await ada('GET', path)).body.total, 1)
  }
  const lines = (count: number, metadata = {}) =>
    Array.from({ length: count }, (_, at) => ({ content: `thing ${at}`, metadata }))
  await refused([...lines(3), { content: '' }, { text: 'x' }], 400, /memories\.3\.content: .*memories\.4\.content: /)
  await refused([], 400, /memories: /)
  await refused(lines(1001), 400, /memories: /)
  await refused(lines(60), 400, /may hold 40 memories/)
  await ada('PUT', home, { memory_settings: { auto_cleanup: true } })
  await refused(lines(60, { pinned: true }), 400, /pinned ones are never removed/)
  await ada('PUT', home, { memory_settings: { max_memories: 1000 } })
  await refused(lines(200), 413, /stored_memories_per_user/)
})

test('a time in the words of a query favours memories of that time and shuts out none', () =>
  withUsers(async ({ ada, persona }) => {
    const path = `${await persona()}/memory`
    const dayMs = 86_400_000
    const weekday = (new Date().getUTCDay() + 6) % 7
    const lastWeek = Date.now() - (weekday + 4) * dayMs
    const memories = [
      { content: 'We planted tomatoes in the garden.', timestamp: lastWeek },
      { content: 'We planted beans in the garden.', timestamp: Date.now() - 200 * dayMs },
      { content: 'Wir haben im Garten Dill gesät.', timestamp: lastWeek },
      { content: 'Wir haben im Garten Mohn gesät.', timestamp: Date.now() - 200 * dayMs },
      { content: 'Hatalmas vihar volt.', timestamp: lastWeek },
    ]
    await ada('POST', `${path}/batch`, { memories })
    const search = async (query: string, more = {}) =>
      (await ada('POST', `${path}/search`, { query, ...more })).body.results as {
        content: string
        score: number
        relevant: boolean
        parts: { time?: number }
      }[]
    const contents = async (query: string, more = {}) => (await search(query, more)).map(({ content }) => content)
    assert.equal((await contents('what did we plant in the garden last week?')).slice(0, 2), [
      'We planted tomatoes in the garden.',
      'We planted beans in the garden.',
    ])
    assert.is((await contents('was haben wir letzte Woche im Garten gesät?'))[0], 'Wir haben im Garten Dill gesät.')
    const [timely, other] = await search('what did we plant in the garden last week?')
    const [same] = await search('what did we plant in the garden?')
    assert.ok(timely!.score > other!.score && timely!.score >= same!.score - 0.2)
    assert.equal([timely!.parts.time, other!.parts.time, same!.parts.time], [1, 0, undefined])
    const only = await search('what did I do last week?')
    assert.equal(only.filter(({ relevant }) => relevant).length, 3)
    assert.ok(only.some(({ content }) => content === 'Hatalmas vihar volt.'))
    assert.not.match((await contents('garden', { after: 'last week' })).join(), /beans|Mohn/)
    assert.equal(
      (await contents('what did we plant in the garden last week?', { before: 'vor zwei Monaten' })).length,
      2,
    )
    assert.is((await ada('GET', `${path}?before=${encodeURIComponent('hace dos meses')}`)).body.total, 2)
    assert.is((await ada('GET', `${path}?after=in%202024`)).body.total, 5)
    assert.is((await ada('GET', `${path}?after=${lastWeek}`)).body.total, 3)
    for (const after of ['soon', '', '\u0301', '275761-01-01', 1.5, 'x'.repeat(200)]) {
      const refused = await ada('POST', `${path}/search`, { query: 'tea', after })
      assert.is(refused.status, 400, String(after))
      assert.match(refused.body.details.join(), /after: .*2024-05-08.*"last week"/)
      if (typeof after === 'string')
        assert.is((await ada('GET', `${path}?after=${encodeURIComponent(after)}`)).status, 400, after)
    }
  }))

test.run()
