// With --all only: PostgreSQL.

import { type InProcess, openInProcess } from '../../helpers/postgres/pglite.ts'
import { suite } from '../../helpers/suite.ts'
import { inProcessStorage } from './pglite.ts'
import { check, partOf } from './rule.ts'
import { rules } from './rules.ts'

const test = suite('the contract of storage, kept by PostgreSQL in process with pgvector')
const chosen = process.env['AICHAT_TEST_STORES']?.split(',')
let inProcess: InProcess

test.before(async () => {
  inProcess = await openInProcess()
})

test.after(() => inProcess.close())

for (const rule of rules)
  if (chosen?.includes(rule.store) ?? true) {
    const name = `${partOf(rule)}: ${rule.says}`
    // It has one session, and goes with its process.
    if (rule.topic === 'crash' || rule.sessions) test.skip(name)
    else test(name, () => check(rule, inProcessStorage(inProcess)))
  }

test.run()
