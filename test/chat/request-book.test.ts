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
