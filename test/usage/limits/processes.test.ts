// With --all only: many processes.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { storageIn } from '../../helpers/storage/test-storage.ts'
import { suite } from '../../helpers/suite.ts'
import { assertSharedBudget } from './budget-processes.ts'

const test = suite('budgets of several processes')

test('two processes that reserve 25 times each at once get the ten that a budget has', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'aichat-budgets-'))
  try {
    await assertSharedBudget(storageIn(folder), 2)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test.run()
