/** Scores over the store itself, from the entrance that search and chat use. */
import * as assert from 'uvu/assert'
import type { Embedders } from '../../../src/personas/memory/embedding.ts'
import { createMemories } from '../../../src/personas/memory/memories.ts'
import type { MemoryInput } from '../../../src/personas/memory/memory.ts'
import type { Persona } from '../../../src/personas/persona.ts'
import { createBuiltinEmbedder } from '../../../src/runners/embedder-builtin.ts'
import { openStores } from '../../bench/memory-parts/scope.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('the score of a memory')

const day = 86_400_000
const now = 1_750_000_000_000

/** Searches among memories by words alone, as where the word vectors are missing. */
async function searching(
  memories: readonly (string | Partial<MemoryInput>)[],
  work: (search: Search) => Promise<void>,
) {
  const stores = await openStores()
  const { personaId, userId } = await stores.scope()
  const persona = {
    id: personaId,
    user_id: userId,
    name: 'b',
    model: 'm',
    parameters: {},
    created_at: 0,
    updated_at: 0,
  }
  const builtin = createBuiltinEmbedder('/nowhere')
  const embedders: Embedders = {
    list: async () => ({ models: [] }),
    require: async () => {},
    embedder: () => builtin,
    rarity: () => undefined,
  }
  const area = createMemories({
    store: stores.memories,
    personas: { get: async () => persona as Persona },
    embedders,
    clock: () => now,
  })
  try {
    await area.store(
      persona as Persona,
      memories.map((each, at) => ({
        importance_score: 0.5,
        metadata: {},
        // Days apart: none is another's context.
        timestamp: now - (memories.length - at) * 2 * day,
        ...(typeof each === 'string' ? { content: each } : { content: '', ...each }),
      })),
    )
    await work(async (query) => (await area.search(persona as Persona, { query, limit: 10 })).hits)
  } finally {
    await area.close()
    stores.close()
  }
}

type Search = (query: string) => Promise<Awaited<ReturnType<ReturnType<typeof createMemories>['search']>>['hits']>

const life = [
  'My wife Priya teaches chemistry at a secondary school in Headingley.',
  'Biscuit is our beagle, he is six and far too fat.',
  'My passport expires in November 2028.',
  'Mrs Okafor next door has our spare key.',
  'The boiler is a Worcester Bosch Greenstar, last serviced in October.',
  'I keep my skis in the cellar behind the bicycles.',
  'We booked pitch 14 at the camp site for the bank holiday.',
  'Der Rucksack ist ein alter Deuter, der Reißverschluss klemmt.',
  'Наш сосед Аркадий чинит старые радиоприёмники в гараже.',
  '我的中文老师姓苏,每周六上午给我上课。',
]

test('is a probability, high for an answer and below the floor for what no memory answers', () =>
  searching(life, async (search) => {
    for (const [query, answer] of [
      ['what subject does Priya teach', 0],
      ['when does my passport expire', 2],
      ['who has our spare key', 3],
      ['what make is our boiler', 4],
      ['Was ist am Rucksack kaputt?', 7],
      ['Что чинит наш сосед Аркадий?', 8],
      ['我的中文老师姓什么?', 9],
    ] as const) {
      const [first] = await search(query)
      assert.is(first?.entry.content, life[answer], query)
      assert.ok(first!.relevant && first!.score <= 1, `${query} ${first!.score}`)
    }
    for (const query of [
      'what is the capital of Mongolia',
      'write a regex that matches an ISO date',
      'explain photosynthesis',
      'who painted the Mona Lisa',
      'what is two plus two',
      'Was ist die Hauptstadt von Australien?',
      'Напиши стихотворение о весне.',
      '请解释什么是光合作用。',
      '春についての俳句を書いて',
      'how many ounces are in a pound',
    ])
      assert.not.ok(
        (await search(query)).some(({ relevant }) => relevant),
        query,
      )
  }))

test('tells an answer from a stranger however many memories there are', () =>
  searching(
    [
      ...life,
      ...Array.from({ length: 400 }, (_, at) => `Note ${at}: the report of room ${at % 20} is in folder ${at * 7}.`),
    ],
    async (search) => {
      assert.ok((await search('when does my passport expire'))[0]!.relevant)
      assert.not.ok((await search('who painted the Mona Lisa')).some(({ relevant }) => relevant))
    },
  ))

test('a newer statement goes before the one that it supersedes, and names it', () =>
  searching(
    [
      'We live in a terraced house in Headingley, number 14.',
      'My GP is Dr Sutcliffe.',
      'We live in Otley now.',
      'Dr Sutcliffe retired, my GP is Dr Anand now.',
      'Hannah lives in Aberdeen.',
      'My cousin lives in Toronto.',
    ],
    async (search) => {
      assert.match((await search('where do we live'))[0]!.entry.content, 'Otley')
      const [doctor, former] = await search('who is my GP')
      assert.match(doctor!.entry.content, 'Anand')
      assert.is(doctor!.supersedes, former!.entry.id)
      const [hannah] = await search('where does Hannah live')
      assert.match(hannah!.entry.content, 'Aberdeen', 'news of somebody else supersedes nothing')
      assert.is(hannah!.supersedes, undefined)
    },
  ))

test('scores go down along the list, and the first is the evidence', () =>
  searching(life, async (search) => {
    const hits = await search('does our neighbour Mrs Okafor have the key of the cellar')
    assert.ok(hits.length > 1)
    hits.forEach(({ score, parts }, at) => {
      assert.ok(score > 0 && score <= (hits[at - 1]?.score ?? 1))
      assert.ok(score <= parts.evidence + 1e-12)
    })
  }))

test.run()
