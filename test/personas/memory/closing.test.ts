import * as assert from 'uvu/assert'
import { newsIn } from '../../../src/personas/memory/closing.ts'
import { readScenes, type Scene } from '../../bench/memory-parts/scenes.ts'
import { fixture } from '../../helpers/fixture.ts'
import { suite } from '../../helpers/suite.ts'

/** Which statements end earlier ones, and which do not: pairs of an earlier and a later one. */
const test = suite('statements that end earlier ones')

const { ends, leaves } =
  fixture<Readonly<Record<'ends' | 'leaves', readonly (readonly [earlier: string, later: string])[]>>>(
    'personas/closing.json',
  )

const dayMs = 86_400_000

function entry(content: string, timestamp: number, metadata = {}) {
  return { id: content, user_id: 'ada', persona_id: 'p', content, timestamp, importance_score: 0.5, metadata }
}

function isEnded(earlier: string, later: string, metadata = {}): boolean {
  const older = { entry: entry(earlier, dayMs, metadata) }
  return (newsIn(entry(later, 20 * dayMs))?.ended([older]).length ?? 0) > 0
}

for (const [earlier, later] of ends) test(`"${later}" ends "${earlier}"`, () => assert.ok(isEnded(earlier, later)))
for (const [earlier, later] of leaves)
  test(`"${later}" leaves "${earlier}"`, () => assert.not.ok(isEnded(earlier, later)))

test("a pinned memory, another speaker's words and an answer are ended by nothing", () => {
  for (const metadata of [{ pinned: true }, { role: 'assistant' }, { keys: ['home'] }])
    assert.not.ok(isEnded('I live in Ghent', 'we moved to Bruges', metadata), JSON.stringify(metadata))
  const news = newsIn(entry('we moved to Bruges', 20 * dayMs, { speaker: 'ada' }))!
  assert.equal(news.ended([{ entry: entry('I live in Ghent', dayMs, { speaker: 'bob' }) }]), [])
})

test('questions, answers and long texts are no news', () => {
  assert.is(newsIn(entry('Did we move to Bruges?', 1, { source: 'chat' })), undefined)
  assert.is(newsIn(entry('You moved to Bruges', 1, { role: 'assistant' })), undefined)
  assert.is(newsIn(entry(`We moved to Bruges. ${'And so on. '.repeat(100)}`, 1)), undefined)
})

test('none of eighty statements that look like a change ends the one before', () => {
  const { scenes } = readScenes<{ scenes: readonly Scene[] }>('keeps')
  const wrong = scenes.filter(({ said }) => isEnded(said[0]![1], said[1]![1]))
  assert.is(scenes.length, 80)
  assert.equal(
    wrong.map(({ said }) => said.map(([, text]) => text)),
    [],
  )
})

test.run()
