import * as assert from 'uvu/assert'
import { closing } from '../../helpers/disposal.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import { openStorageIn } from '../../helpers/storage/test-storage.ts'
import { suite } from '../../helpers/suite.ts'
import { row } from '../contract/ledger.ts'

const test = suite('the ledger in SQLite')

test('sums are whole where the days are more than one statement reads', async () => {
  await using storage = closing(await openStorageIn(temporaryFolder()))
  const days = ['2026-05-31', '2026-06-01', '2026-06-30']
  const [users, models] = [70, 100]
  for (const day of days)
    await storage.ledger.append(
      Array.from({ length: users * models }, (_, at) =>
        row(`${day}-${at}`, 1, { day, user: `user-${at % users}`, model: `model-${Math.floor(at / users)}` }),
      ),
    )
  const period = { since: days[0]!, until: days[2]! }
  const byModel = await storage.ledger.sums({ ...period, by: ['model'] })
  assert.is(byModel.length, models)
  assert.ok(byModel.every(({ requests, output_tokens }) => requests === 210 && output_tokens === 1050))
  const byDay = await storage.ledger.sums({ ...period, by: ['day'] })
  assert.equal(
    byDay.map(({ day, requests }) => [day, requests]),
    days.map((day) => [day, users * models]),
  )
  assert.is((await storage.ledger.sums({ ...period, by: [] }))[0]?.requests, 21_000)
  assert.is((await storage.ledger.sums({ ...period, by: ['user'], user: 'user-1' }))[0]?.requests, 300)
  assert.is((await storage.ledger.sums({ ...period, by: ['model'], most: 7 })).length, 7)
})

test.run()
