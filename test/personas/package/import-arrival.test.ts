import * as assert from 'uvu/assert'
import type { Arrival } from '../../../src/personas/arrival/arrival.ts'
import { type ArrivalImportParts, importArrival } from '../../../src/personas/package/import-arrival.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('the import of files of other programs')

/** Memories that arrive, pinned ones among them, and the limit of a persona that had one of ten. */
const rows: readonly (readonly [count: number, pinned: number, limit: number])[] = [
  [10, 0, 10],
  [11, 0, 11],
  [10, 5, 10],
  [10, 6, 16],
  [30, 6, 30],
]

for (const [count, pinned, limit] of rows)
  test(`of ${count} memories, ${pinned} of them pinned, makes room for ${limit}`, async () => {
    const { warnings } = await importArrival(parts, 'owner', arrivalOf(count, pinned), {
      mode: 'create',
      dry_run: true,
    })
    const raised = `memory_settings.max_memories was raised from 10 to ${limit}, so that all memories are kept`
    assert.equal(warnings, limit === 10 ? [] : [raised])
  })

const parts = {
  archive: { dryRun: async () => ({ kind: 'done', memories: 0 }) },
  personas: {},
  now: () => 0,
  newId: () => 'id',
  defaultModel: () => 'm',
} as unknown as ArrivalImportParts

function arrivalOf(count: number, pinned: number): Arrival {
  const memory = (at: number) => ({ content: `memory ${at}`, timestamp: 0, metadata: { pinned: at < pinned } })
  return {
    format: 'letta',
    persona: { name: 'Ada', memory_settings: { max_memories: 10 } } as unknown as Arrival['persona'],
    passthrough: {},
    warnings: [],
    memories: () => Array.from({ length: count }, (_, at) => memory(at)) as never,
  }
}

test.run()
