// With --all only: PostgreSQL.

import { type InProcess, openInProcess } from '../../helpers/postgres/pglite.ts'
import { havePostgres } from '../../helpers/postgres/server.ts'
import { suite } from '../../helpers/suite.ts'
import { inProcessStorage } from './pglite.ts'
import { check, partOf } from './rule.ts'
import { rules } from './rules.ts'

const test = suite('the contract of storage, kept by PostgreSQL in process with pgvector')
/**
 * The stores whose statements hold vectors: Debian's server has no pgvector. It keeps the rest of the contract itself; where there
 * is no server, all of it is tried here.
 */
const withVectors = ['memories', 'packages']
const chosen = process.env['AICHAT_TEST_STORES']?.split(',') ?? (havePostgres() ? withVectors : undefined)
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
