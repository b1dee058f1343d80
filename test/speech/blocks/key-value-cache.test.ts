import * as assert from 'uvu/assert'
import { createKeyValueCache } from '../../../speech/blocks/key-value-cache.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('the rows that attention looks back on')

const shape = { layers: 2, heads: 1, headSize: 2 }
type Cache = ReturnType<typeof createKeyValueCache>

/** Appends rows whose numbers all begin with their position. */
function append(cache: Cache, rows: number): void {
  const from = cache.position
  for (const [name, { data }] of Object.entries(cache.targets(rows)))
    (data as Float32Array).forEach((_, at, all) => {
      all[at] = from + Math.floor(at / 2) + (name.startsWith('keys') ? 0.25 : 0.5) + Number(name.at(-1)) / 8
    })
  cache.append(rows)
}

/** The first number of each row that the next one sees. */
const seen = (cache: Cache, name: string) =>
  [...(cache.feeds()[name]!.data as Float32Array)].filter((_, at) => at % 2 === 0)

test('they stay what they were while it grows, each layer by itself', () => {
  const cache = createKeyValueCache(shape, 1)
  for (const rows of [1, 1, 3, 7]) append(cache, rows)
  const rows = Array.from({ length: 12 }, (_, at) => at)
  for (const [name, more] of [
    ['keys_0', 0.25],
    ['values_0', 0.5],
    ['keys_1', 0.375],
    ['values_1', 0.625],
  ] as const)
    assert.equal(
      seen(cache, `past_${name}`),
      rows.map((row) => row + more),
      name,
    )
})

test('with a context those before it are out of sight, also where it has grown', () => {
  const cache = createKeyValueCache({ ...shape, context: 4 }, 2)
  for (let step = 0; step < 20; step++) append(cache, 1)
  assert.equal([cache.position, cache.past], [20, 3])
  assert.equal(seen(cache, 'past_keys_0'), [17.25, 18.25, 19.25])
})

test('a copy of some rows is where another cache starts', () => {
  const cache = createKeyValueCache(shape, 4)
  append(cache, 6)
  const rows = cache.copy(2, 5)
  append(cache, 1)
  cache.reset(rows)
  assert.equal([cache.position, seen(cache, 'past_values_1')], [3, [2.625, 3.625, 4.625]])
  cache.reset()
  assert.equal([cache.past, seen(cache, 'past_keys_0')], [0, [0]])
})

test.run()
