import { postgresSuite } from '../../helpers/postgres/suite.ts'
import { postgresOn } from './postgres.ts'
import { check, partOf, type StorageUnderTest } from './rule.ts'
import { rules } from './rules.ts'

const { test, server, run } = postgresSuite('the contract of storage, kept by PostgreSQL')
const chosen = process.env['AICHAT_TEST_STORES']?.split(',')
let storage: StorageUnderTest | undefined

for (const rule of rules)
  if (chosen?.includes(rule.store) ?? true)
    test(`${partOf(rule)}: ${rule.says}`, () => {
      storage ??= postgresOn(server())
      return check(rule, storage)
    })

run()
