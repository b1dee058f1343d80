import * as assert from 'uvu/assert'
import { createRequestBook } from '../../src/chat/request-book.ts'
import { pluck } from '../helpers/pluck.ts'
import { suite } from '../helpers/suite.ts'

const place = { plugin: 'custom', runner: null, model: 'm' }
const answered = { ...place, tries: 1, outcome: 'answered', duration_ms: 3 } as const

/** A book, with requests that are asked and answered at once: each is told by its model. */
function opened() {
  const book = createRequestBook({ now: () => 0, clock: () => 1_000 })
  const begin = (model: string, id?: string) => {
    const watch = id === undefined ? undefined : { requestId: id, attempted() {} }
    const request = book.follow(watch, { user: 'ada', purpose: 'chat', model })
    request.asks!(place)
    return request
  }
  const answer = (model: string) => {
    const request = begin(model, `id-${model}`)
    request.attempted(answered)
    request.ended!('answered', {
      cost: { ...{ cost_usd: '0.1', cost_nano: 1e8, source: null, estimated: false }, tokens: { input: 2, output: 3 } },
    })
    return request
  }
  return { book, begin, answer }
}

const test = suite('the book of requests')

test('of a thousand ended requests the last 500 are told, newest first, each with its own facts', () => {
  const { book, answer } = opened()
  for (let each = 1; each <= 1000; each++) answer(`m${each}`)
  const list = book.list()
  assert.is(list.length, 500)
  assert.equal(
    list.map(({ id, requestId, facts }) => [id, requestId, facts.model]),
    list.map((_, at) => [`${1000 - at}`, `id-m${1000 - at}`, `m${1000 - at}`]),
  )
  assert.equal([book.find('500'), book.find('501')!.facts.model], [undefined, 'm501'])
})

test('a list that was given stays as it is while others end', () => {
  const { book, answer } = opened()
  answer('first')
  const [request] = book.list()
  const before = structuredClone(request)
  for (let each = 0; each < 1000; each++) answer('later')
  assert.equal(structuredClone(request), before)
})

test('place, attempts, tokens and cost of an ended request are told as they were noted', () => {
  const { book, begin, answer } = opened()
  answer('one')
  const request = begin('two')
  const failed = { ...place, tries: 2, outcome: 'failed', class: 'quota', status: 429, error: 'no' } as const
  const local = { plugin: null, runner: 'ollama', model: 'l' }
  request.attempted(failed)
  request.asks!(local)
  request.attempted({ ...local, tries: 1, outcome: 'answered' })
  request.delivered!(7, { prompt_tokens: 4, completion_tokens: 5, total_tokens: 9 })
  request.ended!('answered')
  const [two, one] = book.list()
  assert.equal(one!.attempts, [answered])
  assert.equal(one!.cost, { cost_usd: '0.1', estimated: false, tokens: { input: 2, output: 3 } })
  assert.equal(one!.place, place)
  assert.equal(two!.attempts, [failed, { ...local, tries: 1, outcome: 'answered' }])
  assert.equal(two!.place, local)
  assert.equal(two!.usage, { prompt_tokens: 4, completion_tokens: 5 })
  assert.equal([two!.tokens, two!.cost, two!.requestId], [7, undefined, undefined])
})

test('a request that is asked again after its answer is under way once more, and keeps its one place in the list', () => {
  const { book, answer } = opened()
  const request = answer('one')
  answer('two')
  request.asks!(place)
  assert.equal(pluck(book.list(), 'id', 'state'), [
    ['1', 'asking'],
    ['2', 'answered'],
  ])
  request.ended!('failed')
  assert.equal(pluck(book.list(), 'id', 'state'), [
    ['2', 'answered'],
    ['1', 'failed'],
  ])
  assert.is(book.find('1')!.state, 'failed')
})

test.run()
