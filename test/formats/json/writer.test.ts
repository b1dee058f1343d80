// Some with --all only: a whole sample.
import * as assert from 'uvu/assert'
import { nextStage, weightOf, writeJson, writtenAtOnce } from '../../../src/formats/json/writer.ts'
import { fc } from '../../helpers/properties.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('JSON written in turns')

test.whole('its bytes are those of JSON.stringify', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ noUnicodeString: false }), async (value) => {
      assert.is(await written(value), JSON.stringify(value))
    }),
    { numRuns: 100 },
  )
  const long = '\u{1f600}"\\\n\u0301漢 \ud800'.repeat(60_000)
  const row = { text: long, none: undefined, at: new Date(0), list: [undefined, null, () => 0, 1.5], deep: { a: [{}] } }
  for (const value of [
    long,
    `x${long}`,
    row,
    [row, row],
    { a: { b: [row] }, undefined },
    Array(20_000).fill({ a: 'b' }),
  ])
    assert.is(await written(value), JSON.stringify(value))
})

test('no turn writes more bytes than are allowed at once, however long one text is', async () => {
  const value = { messages: [{ content: 'x'.repeat(30 * 1024 * 1024) }] }
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const { length, pieces } = await writeJson(value)
  isOver = true
  assert.is(length, 30 * 1024 * 1024 + '{"messages":[{"content":""}]}'.length)
  assert.ok(turns >= Math.floor(length / writtenAtOnce), `${turns} turns`)
  for (const piece of pieces) assert.ok(piece.length <= 1024 * 1024, String(piece.length))
})

test('for a reader who has gone it ends before the next turn', async () => {
  let asked = 0
  const reason = await writeJson(['x'.repeat(3 * writtenAtOnce)], { isOver: () => ++asked > 1 }).catch(
    (thrown) => thrown,
  )
  assert.match(String(reason), /went away/)
  assert.is(asked, 2)
})

test('what a value weighs is counted no further than asked, and a light one waits for no turn', async () => {
  let looked = 0
  const item = {
    get text() {
      looked++
      return 'x'.repeat(1000)
    },
  }
  assert.ok(weightOf(Array(1000).fill(item), 10_000) > 10_000)
  assert.ok(looked < 20, String(looked))
  let isNext = false
  setImmediate(() => {
    isNext = true
  })
  await nextStage({ messages: [{ content: 'x'.repeat(1000) }] })
  assert.not(isNext)
  await nextStage({ messages: [{ content: 'x'.repeat(1_000_000) }] })
  assert.ok(isNext)
})

test.run()

async function written(value: unknown): Promise<string> {
  const { pieces, length } = await writeJson(value)
  const bytes = Buffer.concat(pieces)
  assert.is(bytes.length, length)
  return bytes.toString()
}
