import * as assert from 'uvu/assert'
import { AppError } from '../../../src/errors.ts'
import { atFirstUse } from '../../../src/storage/shared/lazy-store.ts'
import { translating } from '../../../src/storage/sqlite/errors.ts'
import { suite } from '../../helpers/suite.ts'

const lazy = suite('a store that is loaded at its first use')

interface Store {
  twice(value: number): Promise<number>
  known(): number | Promise<number>
}

const store: Store = { twice: async (value) => 2 * value, known: () => 1 }

lazy('is loaded once, by the first call, however many come at once', async () => {
  let loads = 0
  const { twice } = atFirstUse<Store>(async () => {
    loads++
    return store
  })
  assert.is(loads, 0)
  assert.equal(await Promise.all([twice(1), twice(2), twice(3)]), [2, 4, 6])
  assert.is(loads, 1)
})

lazy('answers synchronously, where a method does, once it is loaded', async () => {
  const { known } = atFirstUse<Store>(async () => store)
  assert.instance(known(), Promise)
  await known()
  assert.is(known(), 1)
})

lazy('is loaded by the next call after a load that failed, and fails with AppErrors', async () => {
  let loads = 0
  const failing = async () => {
    throw Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' })
  }
  const { twice } = atFirstUse<Store>(async () => {
    if (loads++ === 0) throw new Error('cannot be loaded')
    return translating({ ...store, twice: failing })
  })
  const first = await twice(1).catch((reason: Error) => reason.message)
  assert.is(first, 'cannot be loaded')
  const second = await twice(1).catch((reason: unknown) => reason)
  assert.instance(second, AppError)
  assert.is((second as AppError).code, 'busy')
  assert.is(loads, 2)
})

lazy.run()
