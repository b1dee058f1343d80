// Some with --all only: many processes.
import * as assert from 'uvu/assert'
import { pluck } from '../helpers/pluck.ts'
import { type As, withUsers } from '../helpers/program/user-daemon.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('memories over HTTP')

test('a memory of nothing but content has its defaults and its embedding', () =>
  withUsers(async ({ ada, persona }) => {
    const path = await persona()
    const before = Date.now()
    const { status, body } = await ada('POST', `${path}/memory`, { content: '  The cat is called Mog.\n' })
    assert.is(status, 201)
    const { id, timestamp, embedding, ...rest } = body
    assert.equal(rest, {
      user_id: 'ada-1',
      persona_id: path.split('/').at(-1),
      content: 'The cat is called Mog.',
      importance_score: 0.5,
      metadata: {},
      embedding_model: 'builtin',
      embedding_status: 'ready',
      evicted: [],
    })
    assert.ok(typeof id === 'string' && timestamp >= before && timestamp <= Date.now())
    assert.ok(embedding.length > 100 && embedding.every(Number.isFinite))
    assert.ok(Math.abs(Math.hypot(...embedding) - 1) < 1e-3, 'a unit vector')
  }))

test('all fields come back as they were given, embeddings on request', () =>
  withUsers(async ({ ada, persona }) => {
    const path = `${await persona()}/memory`
    const metadata = {
      category: 'pets',
      pinned: true,
      speaker: 'Ada',
      conversation: 'c1',
      tags: ['a', 1, null],
      'x.y': {},
    }
    const content = 'Mog 猫 "is" \u{1F408} and\nlikes\ttuna; DROP TABLE memory'
    const added = await ada('POST', path, { content, importance_score: 0, metadata })
    assert.equal([added.status, added.body.content, added.body.importance_score], [201, content, 0])
    assert.equal(added.body.metadata, metadata)
    const { embedding, evicted: _evicted, ...entry } = added.body
    assert.equal((await ada('GET', path)).body, { memories: [entry], total: 1 })
    assert.equal((await ada('GET', `${path}?include=embedding`)).body, {
      memories: [{ ...entry, embedding }],
      total: 1,
    })
  }))

test('the same words again renew a memory and are none of their own', () =>
  withUsers(async ({ ada, persona }) => {
    const path = `${await persona()}/memory`
    const content = 'Mog likes tuna.'
    const first = (await ada('POST', path, { content, importance_score: 0.9, metadata: { category: 'pets', a: 1 } }))
      .body
    const again = (await ada('POST', path, { content, importance_score: 0.2, metadata: { pinned: true, a: 2 } })).body
    assert.equal([again.id, again.importance_score], [first.id, 0.9])
    const { times, ...labels } = again.metadata
    assert.equal(labels, { category: 'pets', a: 2, pinned: true })
    assert.equal(times, [first.timestamp, again.timestamp])
    assert.ok(again.timestamp >= first.timestamp)
    assert.is((await ada('GET', path)).body.total, 1)
    await ada('POST', path, { content, metadata: { speaker: 'Bob' } })
    assert.is((await ada('GET', path)).body.total, 2, 'said by somebody else it is another')
  }))

test('what cannot be a memory is refused with every reason, and nothing is stored', () =>
  withUsers(async ({ ada, persona }) => {
    const path = `${await persona()}/memory`
    const refused = async (body: unknown, fields: readonly string[], status = 400) => {
      const answer = await ada('POST', path, body)
      const text = JSON.stringify(body)?.slice(0, 80)
      assert.is(answer.status, status, text)
      assert.ok(typeof answer.body.error === 'string' && Array.isArray(answer.body.details), text)
      if (status === 400)
        assert.equal([...new Set(answer.body.details.map((line: string) => line.split(':')[0]))].sort(), fields, text)
    }
    for (const content of ['', ' \n\t\u3000 ', 7, null, [], {}, undefined, 'x'.repeat(20_001), 'x'.repeat(1_000_000)])
      await refused({ content }, ['content'])
    await refused({ content: 'x'.repeat(2 ** 20) }, [], 413)
    for (const importance_score of [-0.01, 1.01, '0.5', null, true, [0.5]]) {
      await refused({ content: 'x', importance_score }, ['importance_score'])
    }
    for (const raw of ['NaN', 'Infinity', '-Infinity', '1e999'])
      assert.is((await ada('POST', path, `{"content":"x","importance_score":${raw}}`)).status, 400, raw)
    for (const metadata of [
      7,
      [],
      null,
      'x',
      { category: '' },
      { category: 7 },
      { pinned: 'yes' },
      { speaker: 1 },
      { x: 'y'.repeat(10_000) },
    ])
      assert.is(
        (await ada('POST', path, { content: 'x', metadata })).status,
        400,
        JSON.stringify(metadata).slice(0, 40),
      )
    await refused({ content: '', importance_score: 2, metadata: { pinned: 1 } }, [
      'content',
      'importance_score',
      'metadata.pinned',
    ])
    assert.equal((await ada('GET', path)).body, { memories: [], total: 0 })
    // At its edges it is taken.
    for (const importance_score of [0, 1])
      assert.is((await ada('POST', path, { content: `x${importance_score}`, importance_score })).status, 201)
    assert.is((await ada('POST', path, { content: 'x'.repeat(20_000) })).status, 201)
  }))

test('a search finds by words, stops at its limit under each of its names, and explains every score', () =>
  withUsers(async ({ ada, persona }) => {
    const path = `${await persona()}/memory`
    for (const content of facts) await ada('POST', path, { content, importance_score: 0.3 })
    const { status, body } = await ada('POST', `${path}/search`, { query: 'What is the name of my cat?' })
    assert.is(status, 200)
    assert.equal([body.mode, body.embedding_model], ['hybrid', 'builtin'])
    assert.is(body.results[0].content, 'My cat is called Mog.')
    assert.equal(Object.keys(body.results[0]).sort(), [
      'content',
      'id',
      'importance_score',
      'metadata',
      'parts',
      'persona_id',
      'relevant',
      'score',
      'timestamp',
      'user_id',
    ])
    explains(body.results)
    for (const name of ['limit', 'max_results', 'top_k']) {
      const limited = (await ada('POST', `${path}/search`, { query: 'cat', [name]: 2 })).body.results
      assert.ok(limited.length <= 2, name)
      assert.is(limited[0].content, 'My cat is called Mog.')
    }
    const [best, second] = body.results
    const above = { query: 'What is the name of my cat?', min_score: (best.score + second.score) / 2 }
    assert.equal(pluck((await ada('POST', `${path}/search`, above)).body.results, 'id'), [best.id])
    assert.is((await ada('POST', `${path}/search`, { query: 'cat', min_score: 'x' })).status, 400)
  }))

test('a search finds what is meant in other words, and importance decides between equals', () =>
  withUsers(async ({ ada, persona }) => {
    const path = `${await persona()}/memory`
    for (const content of facts) await ada('POST', path, { content })
    const { results } = (await ada('POST', `${path}/search`, { query: 'Which automobile does he drive?' })).body
    assert.equal([results[0].content, results[0].parts.lexical], ['He bought a red car in May.', 0])
    assert.ok(results[0].parts.vector > 0)
    await ada('POST', path, { content: 'Anna plays the violin on Monday.', importance_score: 0.1 })
    await ada('POST', path, { content: 'Anna plays the violin on Sunday.', importance_score: 1 })
    const [first, second] = (await ada('POST', `${path}/search`, { query: 'violin' })).body.results
    assert.match(first.content, 'Sunday')
    assert.match(second.content, 'Monday')
  }))

test('Chinese, Japanese and Korean texts are found by their words', () =>
  withUsers(async ({ ada, persona }) => {
    const path = `${await persona()}/memory`
    for (const content of [
      '我住在北京，喜欢喝绿茶。',
      '猫の名前はタマです。',
      '내 여동생은 서울에 살아요.',
      '他在上海工作。',
    ])
      await ada('POST', path, { content })
    for (const [query, found] of [
      ['绿茶', '绿茶'],
      ['北京', '北京'],
      ['茶', '绿茶'],
      ['タマ', 'タマ'],
      ['여동생', '여동생'],
      ['上海', '上海'],
    ] as const)
      assert.match((await ada('POST', `${path}/search`, { query })).body.results[0]?.content, found)
  }))

test.whole('no query is an error but one that is empty, too long or no text', () =>
  withUsers(async ({ ada, persona }) => {
    const path = `${await persona()}/memory`
    for (const content of facts) await ada('POST', path, { content })
    for (const query of ['', '  ', '\n', 7, null, [], undefined, 'x'.repeat(10_001)]) {
      const { status, body } = await ada('POST', `${path}/search`, { query })
      assert.is(status, 400, JSON.stringify(query)?.slice(0, 40))
      assert.match(body.details[0], /^query: /)
    }
    for (const query of strange) {
      const { status, body } = await ada('POST', `${path}/search`, { query })
      assert.is(status, 200, `${JSON.stringify(query.slice(0, 60))} ${JSON.stringify(body).slice(0, 300)}`)
      explains(body.results)
    }
    const operators = (await ada('POST', `${path}/search`, { query: '"cat" OR (Mog*) NEAR(cat, 2)' })).body.results
    assert.is(operators[0].content, 'My cat is called Mog.')
  }),
)

test('a full memory lets the least worth go, keeps what is pinned, and writes down what went and why', () =>
  withUsers(async ({ ada, persona }) => {
    const path = await persona({ memory_settings: { max_memories: 3 } })
    const add = async (content: string, importance_score: number, pinned = false) =>
      (await ada('POST', `${path}/memory`, { content, importance_score, metadata: { pinned } })).body
    const dull = await add('Dull', 0.1)
    const pinned = await add('Pinned and dull', 0, true)
    await add('Weighty', 1)
    const added = await add('Middling', 0.5)
    const [record] = added.evicted
    assert.is(added.evicted.length, 1)
    assert.equal([record.memory_id, record.reason, record.importance_score], [dull.id, 'max_memories', 0.1])
    assert.equal([record.timestamp, record.evicted_at >= record.timestamp], [dull.timestamp, true])
    assert.equal(await contents(ada, path), ['Middling', 'Weighty', 'Pinned and dull'])
    assert.equal((await ada('GET', `${path}/memory/evictions`)).body, { evictions: added.evicted })
    // A smaller limit holds at once.
    await ada('PUT', path, { memory_settings: { max_memories: 1 } })
    assert.equal(await contents(ada, path), ['Pinned and dull'])
    assert.equal((await ada('GET', `${path}/memory/evictions?limit=2`)).body.evictions.length, 2)
    // A memory full of pinned entries refuses new ones, pinned or not.
    for (const isPinned of [true, false]) {
      const refused = await ada('POST', `${path}/memory`, { content: 'New', metadata: { pinned: isPinned } })
      assert.equal([refused.status, refused.body.code], [400, 'invalid'])
      assert.match(refused.body.error, /full: it may hold 1 memory, and pinned ones/)
      assert.match(refused.body.details.join(), 'max_memories')
    }
    assert.equal(await contents(ada, path), ['Pinned and dull'])
    assert.is((await add('Pinned and dull', 0.2, true)).importance_score, 0.2, 'what is there may be renewed')
    const gone = (await ada('POST', `${path}/memory/search`, { query: 'dull' })).body.results
    assert.is(gone[0].id, pinned.id)
    assert.not.ok(gone.some(({ id }: { id: string }) => id === dull.id))
  }))

test('what has been here longer than its days is shown by no read, and the next write removes it with a record', () =>
  withUsers(async ({ ada, persona, installation }) => {
    const path = await persona({ memory_settings: { retention_days: 2 } })
    const scope = { personaId: path.split('/').at(-1)!, userId: 'ada-1' }
    const { stores, memories } = await installation.app.personas()
    const [old, fresh] = [Date.now() - 3 * 86_400_000, Date.now() - 86_400_000]
    const keepAll = { maxMemories: 10, maxAge: 1e15, cleanup: true, now: Date.now() }
    const memory = (content: string, stored_at: number, metadata = {}) => ({
      content,
      timestamp: stored_at,
      stored_at,
      importance_score: 1,
      metadata,
    })
    const past = [
      memory('Old tea', old, { category: 'drinks' }),
      memory('Old pinned tea', old, { pinned: true }),
      memory('Fresh tea', fresh),
    ]
    await stores.memories.add(scope, past, keepAll)
    const look = async () => {
      const found = (await ada('POST', `${path}/memory/search`, { query: 'tea' })).body.results
      assert.equal(found.map(({ content }: { content: string }) => content).sort(), ['Fresh tea', 'Old pinned tea'])
      assert.equal((await ada('GET', `${path}/memory/categories`)).body, { categories: [{ category: '', count: 2 }] })
      const { memories, total } = (await ada('GET', `${path}/memory`)).body
      assert.equal(
        [memories.map(({ content }: { content: string }) => content), total],
        [['Fresh tea', 'Old pinned tea'], 2],
      )
      assert.equal((await ada('GET', `${path}/memory?category=drinks`)).body, { memories: [], total: 0 })
    }
    await look()
    // A look removes nothing, which switching clean-up off shows.
    assert.equal((await ada('GET', `${path}/memory/evictions`)).body.evictions, [])
    assert.is((await stores.memories.list(scope, { limit: 10, offset: 0 })).total, 3)
    const { body } = await ada('POST', `${path}/memory`, { content: 'New coffee' })
    assert.equal(pluck(body.evicted, 'reason', 'timestamp'), [['retention_days', old]])
    assert.is((await ada('GET', `${path}/memory`)).body.total, 3)
    // A service removes it now and then, too.
    await stores.memories.add(scope, [memory('Old cocoa', old)], keepAll)
    await memories.maintain()
    assert.is((await stores.memories.list(scope, { limit: 10, offset: 0 })).total, 3)
    assert.is((await ada('GET', `${path}/memory/evictions`)).body.evictions.length, 2)
    await stores.memories.add(scope, [memory('Old tea', old)], keepAll)
    await ada('PUT', path, { memory_settings: { auto_cleanup: false } })
    const all = ['New coffee', 'Fresh tea', 'Old tea', 'Old pinned tea']
    assert.equal(await contents(ada, path), all, 'without clean-up nothing expires')
  }))

test('a memory of long ago is kept as long as one of today: its days begin when it is stored', () =>
  withUsers(async ({ ada, persona }) => {
    const path = await persona({ memory_settings: { retention_days: 2 } })
    const timestamp = Date.UTC(1969 + 1, 4, 8)
    const added = await ada('POST', `${path}/memory`, { content: 'Born in May', timestamp })
    assert.equal([added.status, added.body.timestamp, added.body.evicted], [201, timestamp, []])
    assert.is((await ada('POST', `${path}/memory`, { content: 'Another' })).status, 201)
    assert.equal(await contents(ada, path), ['Another', 'Born in May'])
    const { results } = (await ada('POST', `${path}/memory/search`, { query: 'May 1970' })).body
    assert.is(results[0].timestamp, timestamp)
  }))

test('a time is a whole number of milliseconds from 1970 to 9999, and no field is taken that means nothing', () =>
  withUsers(async ({ ada, persona }) => {
    const path = await persona()
    for (const timestamp of [-1, 0.5, '0', null, 253_402_300_800_000, 1e300, true]) {
      const { status, body } = await ada('POST', `${path}/memory`, { content: 'x', timestamp })
      assert.is(status, 400, `${timestamp}`)
      assert.match(body.details[0], /^timestamp: /)
    }
    for (const timestamp of [0, 253_402_300_799_999])
      assert.is(
        (await ada('POST', `${path}/memory`, { content: `at ${timestamp}`, timestamp })).body.timestamp,
        timestamp,
      )
    for (const [rest, body, field] of [
      ['/memory', { content: 'x', importance: 0.9 }, 'importance'],
      ['/memory', { content: 'x', user_id: 'bob-2', embedding: [1] }, 'user_id'],
      ['/memory/search', { query: 'x', categories: ['pets'] }, 'categories'],
    ] as const) {
      const answer = await ada('POST', path + rest, body)
      assert.is(answer.status, 400, field)
      assert.match(answer.body.details.join(), field)
    }
    assert.is((await ada('GET', `${path}/memory`)).body.total, 2)
  }))

test('a wipe takes all, a category, or what is older than a time, and says how many', () =>
  withUsers(async ({ ada, persona }) => {
    const path = `${await persona()}/memory`
    const add = (content: string, metadata = {}) => ada('POST', path, { content, metadata })
    const fill = async () => {
      await add('a', { category: 'x' })
      await add('b', { category: 'x', pinned: true })
      await add('c', { category: 'y' })
      return (await add('d')).body.timestamp + 1
    }
    const later = await fill()
    const wiped = async (query: string) => {
      const { status, body } = await ada('DELETE', `${path}${query}`)
      return [status, body.deleted, (await ada('GET', path)).body.total]
    }
    assert.equal(await wiped('?category=nothing'), [200, 0, 4])
    assert.equal(await wiped('?before=1000'), [200, 0, 4])
    assert.equal(await wiped('?category=x'), [200, 2, 2])
    assert.equal(await wiped('?category='), [200, 1, 1])
    assert.equal(await wiped(`?category=z&before=${later}`), [200, 0, 1])
    assert.equal(await wiped(`?before=${later}`), [200, 1, 0])
    await fill()
    assert.equal(await wiped(''), [200, 4, 0])
    await fill()
    const byBody = await ada('DELETE', path, { category: 'y' })
    assert.equal([byBody.status, byBody.body], [200, { deleted: 1, may_remain_in: ['exported packages'] }])
    // A wipe that is not understood wipes nothing, least of all everything.
    for (const query of ['?before=yesterday', '?Category=x', '?categories=x', '?before='])
      assert.is((await ada('DELETE', path + query)).status, 400, query)
    for (const body of [{ categories: ['x'] }, { category: null }, { category: 7 }, { before: '' }, { before: null }])
      assert.is((await ada('DELETE', path, body)).status, 400, JSON.stringify(body))
    assert.is((await ada('GET', path)).body.total, 3)
  }))

test.run()

const facts = [
  'My cat is called Mog.',
  'He bought a red car in May.',
  'The garden needs water every evening.',
  'We met in Lisbon ten years ago.',
  'My favourite dish is mushroom risotto.',
  'The meeting was moved to Thursday.',
]

const strange = [
  '"',
  '""',
  "'",
  '*',
  'cat*',
  '*cat',
  '^cat',
  '-cat',
  'NOT cat',
  'cat AND',
  'AND OR NOT',
  'OR',
  'NEAR(',
  'NEAR(cat mog, 5)',
  'NEAR/2',
  'content:cat',
  '{content about} : cat',
  'rowid:1',
  '(((',
  ')',
  'cat"; DROP TABLE memory; --',
  "' OR 1=1 --",
  '+cat',
  'cat + mog',
  '\\',
  '%',
  '_',
  '[a-z]+(?:',
  '$1',
  '\u0000',
  'cat\u0000mog',
  '\u0001\u001f\u007f',
  '\ud800',
  'cat \udc00 mog',
  '\u200b',
  '\u202ecat',
  '?!…—·',
  '.',
  '🐈',
  '👨‍👩‍👧‍👦 🇩🇪',
  '绿',
  'ตาม',
  'ﬁﬂ',
  'İ',
  'ß',
  'a\u0301\u0301\u0301',
  '\u0301',
  "\u0301'\u0301 cat",
  '١٢٣',
  'the of and',
  'what is it',
  'x'.repeat(10_000),
  'cat '.repeat(2_500),
  Array.from({ length: 1_900 }, (_, index) => `w${index}`)
    .join(' ')
    .slice(0, 10_000),
  '猫'.repeat(10_000),
  '"'.repeat(10_000),
]

interface Hit {
  readonly score: number
  readonly parts: {
    readonly lexical: number
    readonly vector: number
    readonly recency: number
    readonly importance: number
    readonly coverage: number
    readonly evidence: number
  }
}

/** Best first, and every score follows from its parts. */
function explains(results: readonly Hit[]): void {
  let above = Number.POSITIVE_INFINITY
  for (const { score, parts } of results) {
    const { lexical, vector, recency, importance, coverage, evidence } = parts
    for (const part of [lexical, vector, recency, importance]) assert.ok(Number.isFinite(part) && part >= 0)
    assert.ok(coverage >= 0 && coverage <= 1 && evidence > 0 && evidence <= 1)
    assert.ok(score > 0 && score <= above && score <= evidence)
    above = score
  }
}

async function contents(ada: As, path: string): Promise<string[]> {
  return (await ada('GET', `${path}/memory`)).body.memories.map(({ content }: { content: string }) => content)
}
