// Some with --all only: many processes.
import * as assert from 'uvu/assert'
import { wordsInPrompts, wrongAnswer } from '../bench/memory-parts/asked-again.ts'
import { companionFacts } from '../bench/memory-parts/scenes.ts'
import { openUsers } from '../helpers/program/user-daemon.ts'
import { completion, json } from '../helpers/providers/fake-provider.ts'
import { isWholeRun, suite } from '../helpers/suite.ts'

const test = suite('asking a persona')

test.whole(
  'makes it forget nothing: the user’s words are in the prompt at the first asking and later, whatever it answered',
  async () => {
    // Two facts of each of the ten kinds.
    const facts = companionFacts.filter((_, at) => isWholeRun || at % 3 === 0)
    // A wrong answer is the harder case: it stands beside the user's words in every later search.
    for (const answer of isWholeRun ? [() => 'ok', wrongAnswer] : [wrongAnswer]) {
      const rounds = await wordsInPrompts(2, answer, facts)
      const missed = rounds.map((questions) => questions.filter(({ isIn }) => !isIn).map(({ question }) => question))
      // Four facts with wrongly typed words are not found by correctly typed ones; questions count in the size of the memory.
      assert.ok(
        missed.every((questions) => questions.length <= 5),
        JSON.stringify(missed),
      )
      for (const questions of rounds)
        assert.equal(
          questions.filter(({ isIn, isBehindAnswer }) => isIn && isBehindAnswer),
          [],
        )
    }
  },
)

test('lets no wrong answer stand before or in place of what the user said', async () => {
  await using users = await openUsers({ provider: (_request, response) => json(response, 200, completion('ok')) })
  const { ada, persona, provider } = users
  const path = await persona({ memory_settings: { enabled: true } })
  await ada('POST', `${path}/memory`, { content: 'My locker at the pool is 217', metadata: { source: 'chat' } })
  await ada('POST', `${path}/memory`, {
    content: 'Your locker at the pool, the one that is yours, is 712.',
    metadata: { source: 'chat', role: 'assistant' },
  })
  const { results } = (await ada('POST', `${path}/memory/search`, { query: 'Which locker at the pool is mine?' })).body
  assert.match(results[0].content, /217/)
  const body = {
    persona: path.split('/').at(-1),
    messages: [{ role: 'user', content: 'Which locker at the pool is mine?' }],
  }
  await ada('POST', '/api/chat', body)
  const prompt: string = JSON.parse(provider.received.at(-1)!.body).messages[0].content
  assert.ok(prompt.includes('217'), prompt)
  assert.ok(!prompt.includes('712') || prompt.indexOf('217') < prompt.indexOf('712'), prompt)
})

test('never makes a statement leave a full memory', async () => {
  await using users = await openUsers({ provider: (_request, response) => json(response, 200, completion('ok')) })
  const { ada, persona } = users
  const path = await persona({ memory_settings: { enabled: true, max_memories: 3 } })
  const say = (content: string) =>
    ada('POST', '/api/chat', { persona: path.split('/').at(-1), messages: [{ role: 'user', content }] })
  const contents = async (): Promise<string[]> =>
    (await ada('GET', `${path}/memory`)).body.memories.map(({ content }: { content: string }) => content).sort()
  await say('I am diabetic, type 1.')
  await say('Where did I park?')
  await say('My cat is called Mog.')
  await say('My bike is green.')
  const three = ['I am diabetic, type 1.', 'My bike is green.', 'My cat is called Mog.']
  assert.equal(await contents(), three, 'the question has made room')
  assert.is((await say('Where did I leave the keys?')).status, 200)
  assert.equal(await contents(), three, 'a question takes no statement’s place')
})

test('to forget something names the memories that it may mean, keeps nothing and removes none', async () => {
  await using users = await openUsers({ provider: (_request, response) => json(response, 200, completion('ok')) })
  const { ada, persona } = users
  const path = await persona({ memory_settings: { enabled: true } })
  const say = (content: string) =>
    ada('POST', '/api/chat', { persona: path.split('/').at(-1), messages: [{ role: 'user', content }] })
  await say('My birthday is on 4 May.')
  await say('My cat is called Mog.')
  await say("don't remember this: I am expecting")
  const { memories } = (await ada('GET', `${path}/memory`)).body
  const birthday = memories.find(({ content }: { content: string }) => content.includes('birthday'))
  const { aichat } = (await say('Please forget my birthday')).body
  assert.equal(aichat.forget, [birthday.id])
  assert.ok(
    aichat.warnings.some((text: string) => text.includes(`memory remove ${path.split('/').at(-1)} ${birthday.id}`)),
  )
  assert.equal((await say('Forget my piano lessons')).body.aichat.forget, [])
  assert.equal((await ada('GET', `${path}/memory`)).body.memories, memories)
})

test.run()
