import * as assert from 'uvu/assert'
import type { IncomingMemory } from '../../../src/personas/package/archive.ts'
import { batches, slice } from '../../../src/storage/shared/persona-slices.ts'
import { suite } from '../../helpers/suite.ts'

const slices = suite('slices of an arriving persona')

function memory(length: number, dimension = 0, more: object = {}): IncomingMemory {
  const space = { key: 's', model: 's', dimension }
  return {
    id: 'm',
    content: 'x'.repeat(length),
    timestamp: 1,
    importance_score: 0.5,
    metadata: {},
    extra: {},
    ...(dimension > 0 && { vector: { space, values: new Float32Array(dimension) } }),
    ...more,
  }
}

const many = (one: IncomingMemory) => Array.from({ length: 300 }, () => one)

/** The work of one transaction: memories, characters, components of vectors. */
const loads: Record<string, IncomingMemory> = {
  small: memory(10),
  long: memory(20_000),
  'of large vectors': memory(10, 16_384),
  'of much metadata': memory(10, 0, { metadata: { more: 'y'.repeat(60_000) } }),
  'of many unknown fields': memory(10, 0, { extra: { more: 'y'.repeat(60_000) } }),
}

for (const [name, one] of Object.entries(loads))
  slices(`hold no more than is written in some milliseconds, and all of it: memories that are ${name}`, () => {
    let count = 0
    for (const batch of batches(many(one))) {
      count += batch.length
      const characters = batch.reduce(
        (sum, { content, metadata, extra }) =>
          sum + content.length + JSON.stringify(metadata).length + JSON.stringify(extra).length,
        0,
      )
      const components = batch.reduce((sum, { vector }) => sum + (vector?.values.length ?? 0), 0)
      assert.ok(batch.length <= slice.memories)
      if (batch.length === 1) continue
      assert.ok(characters <= slice.characters, `${characters} characters`)
      assert.ok(components <= slice.components, `${components} components`)
    }
    assert.is(count, 300)
  })

slices.run()
