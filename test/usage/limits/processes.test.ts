// With --all only: many processes.
import { temporaryFolder } from '../../helpers/folders.ts'
import { storageIn } from '../../helpers/storage/test-storage.ts'
import { suite } from '../../helpers/suite.ts'
import { assertSharedBudget } from './budget-processes.ts'

const test = suite('budgets of several processes')

test('two processes that reserve 25 times each at once get the ten that a budget has', async () => {
  const folder = temporaryFolder()
  await assertSharedBudget(storageIn(folder), 2)
})

test.run()
