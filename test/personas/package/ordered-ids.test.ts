import * as assert from 'uvu/assert'
import { orderedIds } from '../../../src/personas/package/import-package.ts'
import { suite } from '../../helpers/suite.ts'

const ids = suite('ids in order')

const now = Date.UTC(2026, 5, 1)

ids('each is a UUID of version 7 that begins with the time, and greater than the one before', () => {
  const next = orderedIds(now)
  let before = ''
  for (let at = 0; at < 100_000; at++) {
    const id = next()
    if (at % 1000 === 0) assert.match(id, /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    if (id <= before) assert.unreachable(`${id} after ${before}`)
    before = id
  }
  assert.is(Number.parseInt(before.slice(0, 13).replace('-', ''), 16), now)
})

ids('those of two imports at the same time differ', () => {
  const [one, two] = [orderedIds(now), orderedIds(now)]
  const made = Array.from({ length: 10_000 }, () => [one(), two()]).flat()
  assert.is(new Set(made).size, made.length)
})

ids.run()
