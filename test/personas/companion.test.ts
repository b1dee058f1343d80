import * as assert from 'uvu/assert'
import { openUsers } from '../helpers/program/user-daemon.ts'
import { completion, json } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

/** A companion's days over HTTP: what the user said, in days before now, what is asked, and what stands in the prompt or does not. */
const test = suite('a companion')

const dayMs = 86_400_000
let answerOfModel = 'ok'
let all: Awaited<ReturnType<typeof openUsers>>

test.before(async () => {
  all = await openUsers({ provider: (_request, response) => json(response, 200, completion(answerOfModel)) })
})
test.after(async () => {
  await all[Symbol.asyncDispose]()
})

/** Text that the user said, and how many days ago. */
type Said = readonly [text: string, daysAgo: number]

async function companion(said: readonly Said[] = [], settings: Record<string, unknown> = {}): Promise<string> {
  const path = await all.persona({ memory_settings: { enabled: true, ...settings } })
  for (const [content, daysAgo] of said) {
    const timestamp = Date.now() - daysAgo * dayMs
    const { status, body } = await all.ada('POST', `${path}/memory`, {
      content,
      timestamp,
      metadata: { source: 'chat', speaker: 'ada' },
    })
    assert.is(status, 201, JSON.stringify(body))
  }
  return path
}

/** Says something in a chat of its own; resolves with the memories in its prompt, a line each. */
async function say(path: string, ...words: readonly string[]): Promise<readonly string[]> {
  const messages = words.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content }))
  const { status } = await all.ada('POST', '/api/chat', { persona: path.split('/').at(-1), messages })
  assert.is(status, 200)
  const sent = JSON.parse(all.provider.received.at(-1)!.body).messages as { content: string }[]
  return sent.flatMap(({ content }) => content.split('\n').filter((line) => line.startsWith('- [')))
}

/** Days since the last 25 December that is over by a week at least. */
const sinceChristmas = (() => {
  const year = new Date(Date.now() - 7 * dayMs).getUTCFullYear()
  return Math.floor((Date.now() - Date.UTC(year - 1, 11, 25, 12)) / dayMs)
})()

interface Scene {
  readonly name: string
  readonly said: readonly Said[]
  readonly asked: string
  readonly in?: readonly string[]
  readonly out?: readonly string[]
}

const lastTuesday = ((new Date().getUTCDay() + 4) % 7) + 1
const lastMonth = Math.ceil(
  (Date.now() - Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() - 1, 14)) / dayMs,
)

const scenes: readonly Scene[] = [
  {
    name: "a relative's name leads to what was said of the name",
    said: [
      ['My son Ilyas starts school in September', 9],
      ["Ilyas can't have gluten", 7],
      ['My bike is orange', 5],
    ],
    asked: 'a birthday cake for my son?',
    in: ['gluten', 'Ilyas'],
    out: ['bike'],
  },
  {
    name: 'later news on the topic of a question stand before what they made old, without a word in common',
    said: [
      ['Been seeing a guy called Marcus since Easter', 40],
      ['Dumped by text. Back on my own then.', 3],
    ],
    asked: 'What is the guy called that I have been seeing?',
    in: ['Dumped', 'Marcus'],
  },
  {
    name: 'a plan that is off stands in the place of the plan',
    said: [
      ['We are buying the flat in Ghent!', 20],
      ['the flat is off, they sold to someone else', 3],
    ],
    asked: 'did we buy the flat?',
    in: ['the flat is off'],
    out: ['We are buying'],
  },
  {
    name: 'a deal that fell through is found by what was bought',
    said: [
      ['We signed for the house on Elm Street', 30],
      ['the deal fell through', 2],
    ],
    asked: 'did we buy the house on Elm Street?',
    in: ['fell through'],
    out: ['We signed'],
  },
  {
    name: 'a new job stands in the place of the old one',
    said: [
      ['I work as a nurse at St. Anna', 90],
      ['since Monday I am at the hospice De Linde', 4],
    ],
    asked: 'where do I work?',
    in: ['De Linde'],
    out: ['St. Anna'],
  },
  {
    name: 'an illness that proved none',
    said: [
      ['Allergic to penicillin', 200],
      ['the test says it is no allergy after all', 10],
    ],
    asked: 'am I allergic to penicillin?',
    in: ['no allergy'],
    out: ['Allergic to penicillin'],
  },
  {
    name: 'a couple that split up',
    said: [
      ['Katrien and I have been together four years', 60],
      ['we split up in September', 20],
    ],
    asked: 'a present for Katrien?',
    in: ['split up'],
    out: ['four years'],
  },
  {
    name: 'a value that was told three times',
    said: [
      ['I weigh 82', 60],
      ['79 now', 30],
      ['77.5 this morning', 1],
    ],
    asked: 'how much do I weigh?',
    in: ['77.5'],
    out: ['82', '79'],
  },
  {
    name: 'a day beside words',
    said: [
      ['the doctor says my knee needs rest', lastTuesday + 30],
      ['the doctor says the mole is harmless', lastTuesday],
      ['the doctor says I should drink more water', lastTuesday + 14],
    ],
    asked: 'what did the doctor say last Tuesday?',
    in: ['harmless'],
    out: ['knee', 'water'],
  },
  {
    name: 'a month beside words',
    said: [
      ['We had dinner at Osteria Lume', lastMonth],
      ['We had dinner at the harbour grill', lastMonth + 62],
      ['We ate at Casa Pepe with Bruno', lastMonth + 95],
      ['We had dinner at Noodle Yard', 0.1],
      ['I no longer eat gluten', 0.2],
    ],
    asked: 'where did we eat last month?',
    in: ['Osteria Lume'],
    out: ['gluten', 'harbour', 'Casa Pepe'],
  },
  {
    name: 'a feast beside words',
    said: [
      ['Aunt Rosa visited us and brought a goose', sinceChristmas],
      ['Uncle Ben visited us and stayed for two nights', sinceChristmas + 60],
      ['Selma visited us with the twins', 0.5],
    ],
    asked: 'who visited us last Christmas?',
    in: ['Rosa'],
    out: ['Ben', 'Selma'],
  },
]

for (const scene of scenes)
  test(scene.name, async () => {
    const lines = (await say(await companion(scene.said), scene.asked)).join('\n')
    for (const text of scene.in ?? []) assert.ok(lines.includes(text), `in: ${text}\n${lines}`)
    for (const text of scene.out ?? []) assert.not.ok(lines.includes(text), `out: ${text}\n${lines}`)
  })

test('a wrong answer stands behind the words of the user, as an answer', async () => {
  const path = await companion([['My locker at the pool is 217', 5]])
  answerOfModel = 'Your locker is 712.'
  await say(path, 'which locker is it?')
  answerOfModel = 'ok'
  const lines = await say(path, 'which locker is mine?')
  assert.ok(lines[0]?.includes('217'), lines.join())
  assert.is(lines.filter((line) => line.includes('712') && !line.includes('your answer')).length, 0)
})

test('the fact comes each time, and the stored questions never', async () => {
  const path = await companion([['The spare key is under the blue pot', 12]])
  for (let time = 0; time < 3; time++) {
    const lines = await say(path, 'where is the spare key?')
    assert.match(lines.join('\n'), 'blue pot')
    assert.not.ok(lines.some((line) => line.includes('where is')))
  }
})

test('a question alone answers nothing', async () => {
  const path = await companion()
  await say(path, 'where did I park?')
  assert.equal(
    (await say(path, 'where did I park?')).filter((line) => !line.includes('your answer')),
    [],
  )
})

test('the same statement of five conversations is one line, with its newest time', async () => {
  const path = await companion()
  for (let time = 0; time < 5; time++) {
    const { body } = await all.ada('POST', '/api/sessions', { name: `boiler ${time}` })
    const { status } = await all.ada('POST', '/api/chat', {
      persona: path.split('/').at(-1),
      session: body.id,
      messages: [{ role: 'user', content: 'The boiler code is 4471' }],
    })
    assert.is(status, 200)
  }
  const lines = await say(path, 'what is the boiler code?')
  assert.is(lines.filter((line) => line.includes('4471')).length, 1)
  const { body } = await all.ada('GET', `${path}/memory?speaker=ada`)
  assert.is(body.memories.filter(({ content }: { content: string }) => content.includes('4471')).length, 1)
  const said = body.memories.filter(({ content }: { content: string }) => content.includes('4471'))
  const times = said.map(({ metadata }: { metadata: { times?: number[] } }) => metadata.times?.length)
  assert.equal(times, [5], JSON.stringify(body.memories))
})

test('an answer that the user confirms counts as the words of the user', async () => {
  const path = await companion()
  answerOfModel = 'So your bicycle is the green Batavus in the cellar.'
  await say(path, 'My bicycle is a Batavus, it stands in the cellar and has a green frame.')
  const [asked, answer] = ['My bicycle is a Batavus, it stands in the cellar and has a green frame.', answerOfModel]
  answerOfModel = 'ok'
  const kinds = async () => {
    const { body } = await all.ada('GET', `${path}/memory`)
    return body.memories.flatMap(({ content, metadata }: { content: string; metadata: { kind?: string } }) =>
      content === answer ? [metadata.kind] : [],
    )
  }
  await say(path, asked!, answer!, 'What colour is it?')
  assert.equal(await kinds(), [undefined])
  await say(path, asked!, answer!, 'Yes, right.')
  assert.equal(await kinds(), ['statement'])
})

test('who "he" is stands in the profile by the message before, and a partner leaves it with the end', async () => {
  const path = await companion()
  for (const said of [
    'My nephew Eskil turns nine on Saturday.',
    'He is allergic to hazelnuts, by the way.',
    'Who else is there?',
    'My girlfriend Ana lives in Rome.',
  ])
    await say(path, said)
  const lines = await say(path, 'Which biscuits can I bake?')
  assert.ok(
    lines.some((line) => line.startsWith('- [allergy] My nephew Eskil is allergic to hazelnuts')),
    lines.join('\n'),
  )
  assert.ok(lines.some((line) => line === '- [who is who] My girlfriend Ana'))
  await say(path, 'Ana and I split up, I am single again.')
  const after = await say(path, 'Which biscuits can I bake?')
  assert.not.ok(after.some((line) => line === '- [who is who] My girlfriend Ana'))
  const { body } = await all.ada('GET', `${path}/profile?history=true`)
  assert.ok(body.history.some(({ text }: { text: string }) => text === 'My girlfriend Ana'))
})

test('what holds for life survives a store full of meetings, and the evictions say why', async () => {
  const path = await companion(
    [
      ['I am diabetic, type 1', 200],
      ['The safe behind the mirror opens with 7731', 150],
    ],
    {
      max_memories: 40,
    },
  )
  const memories = Array.from({ length: 60 }, (_, at) => ({
    content: `Meeting ${at} with the sales team about the budget`,
    timestamp: Date.now() - (100 - at) * dayMs,
    metadata: { source: 'chat', speaker: 'ada' },
  }))
  assert.is((await all.ada('POST', `${path}/memory/batch`, { memories })).status, 201)
  const { body } = await all.ada('GET', `${path}/memory?limit=100`)
  assert.is(body.total, 40)
  const contents = body.memories.map(({ content }: { content: string }) => content)
  assert.ok(contents.includes('I am diabetic, type 1'))
  assert.ok(contents.includes('The safe behind the mirror opens with 7731'))
  const { body: evicted } = await all.ada('GET', `${path}/memory/evictions`)
  assert.equal(new Set(evicted.evictions.map(({ rank }: { rank: string }) => rank)), new Set(['passing']))
})

test('the past is searched by its time, and a wrong end is undone by an edit', async () => {
  const path = await companion([
    ['I work as a nurse at St. Anna', 90],
    ['since Monday I am at the hospice De Linde', 4],
  ])
  const search = async (more = {}) => {
    const { status, body } = await all.ada('POST', `${path}/memory/search`, { query: 'where do I work?', ...more })
    assert.is(status, 200, JSON.stringify(body))
    return body.results.map(({ content }: { content: string }) => content)
  }
  assert.equal(await search(), ['since Monday I am at the hospice De Linde'])
  assert.equal(await search({ as_of: Date.now() - 30 * dayMs }), ['I work as a nurse at St. Anna'])
  assert.equal(
    (await say(path, 'where did I work before?')).filter((line) => /until \w+ \d{4}: I work/.test(line)).length,
    1,
  )
  const { body } = await all.ada('GET', `${path}/memory`)
  const ended = body.memories.find(({ content }: { content: string }) => content.includes('St. Anna'))
  const later = body.memories.find(({ content }: { content: string }) => content.includes('De Linde'))
  assert.is(ended.metadata.ended_by, later.id)
  await all.ada('PUT', `${path}/memory/${ended.id}`, { metadata: { valid_to: null } })
  assert.ok((await search()).includes('I work as a nurse at St. Anna'))
})

test('what was said again after the time that is asked for stands behind what was said then', async () => {
  const path = await companion([
    ['We hiked along the gorge', lastMonth],
    ['We hiked around the reservoir', 0.1],
  ])
  const [first] = await say(path, 'where did we hike last month?')
  assert.match(first ?? '', 'gorge')
})

test('unrelated prompts bring no memory', async () => {
  const path = await companion([
    ['My son Ilyas starts school in September', 9],
    ['I weigh 82', 60],
    ['We are buying the flat in Ghent!', 20],
    ['I play the cello on Sundays', 12],
    ['I sail a dinghy called Quint', 15],
    ['I take thyroid tablets in the morning', 40],
  ])
  for (const asked of [
    'What is a monad?',
    'Explain how inflation works',
    'Translate "good morning" into Greek',
    '2+2?',
    'Do you like sailing?',
    'Do you go to school?',
    'Explain how a thyroid works',
    'Write a limerick about a dinghy',
    'Schreib ein Gedicht über ein Cello',
  ])
    assert.equal(await say(path, asked), [], asked)
  for (const [asked, found] of [
    ['Do you remember what the dinghy is called?', 'Quint'],
    ['Tell me about Ilyas', 'Ilyas'],
    ['Write a card for Ilyas', 'Ilyas'],
  ] as const)
    assert.ok((await say(path, asked)).join('\n').includes(found), asked)
})

test.run()
