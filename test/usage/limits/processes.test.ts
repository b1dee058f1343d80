// With --all only: many processes.

import { temporaryFolder } from '../../helpers/disposal.ts'
import { storageIn } from '../../helpers/storage/test-storage.ts'
import { suite } from '../../helpers/suite.ts'
import { assertSharedBudget } from './budget-processes.ts'

const test = suite('budgets of several processes')

test('two processes that reserve 25 times each at once get the ten that a budget has', async () => {
  using temporary = temporaryFolder()
  const folder = temporary.path
  await assertSharedBudget(storageIn(folder), 2)
})

test.run()
