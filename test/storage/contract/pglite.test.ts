import { suite } from '../../suite.ts'
import { type InProcess, openInProcess } from '../postgres/pglite.ts'
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

// It has one session, and dies with this process: the others are kept by the real PostgreSQL.
for (const rule of rules)
  if (rule.topic !== 'crash' && !rule.whileOpen && (chosen?.includes(rule.store) ?? true))
    test(`${partOf(rule)}: ${rule.says}`, () => check(rule, inProcessStorage(inProcess)))

test.run()
