import * as assert from 'uvu/assert'
import { createImportCounts } from '../../src/personas/import-counts.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('counts of imports')

test('are by the format that an import reports; one that throws has failed, in an unknown one', async () => {
  const counts = createImportCounts()
  const failed = (count: number) => ({ format: 'unknown', outcome: 'failed', count })
  assert.equal([counts.list(), counts.underWay], [[failed(0)], 0])
  let finish = (_: { format: string }) => {}
  const first = counts.counted(
    () =>
      new Promise<{ format: string }>((resolve) => {
        finish = resolve
      }),
  )
  assert.is(counts.underWay, 1)
  finish({ format: 'card' })
  await first
  await counts.counted(async () => ({ format: 'card' }))
  const refusal = new Error('no file')
  assert.is(await counts.counted(() => Promise.reject(refusal)).catch((reason) => reason), refusal)
  assert.equal(counts.list(), [{ format: 'card', outcome: 'answered', count: 2 }, failed(1)])
  assert.is(counts.underWay, 0)
})

test.run()
