// With --all only: PostgreSQL.

import { postgresSuite } from '../../helpers/postgres/suite.ts'
import { postgresOn } from './postgres.ts'
import { check, partOf } from './rule.ts'
import { rules } from './rules.ts'

const { test, server, run } = postgresSuite('the contract of storage, kept by PostgreSQL')
const chosen = process.env['AICHAT_TEST_STORES']?.split(',')
let storage: Awaited<ReturnType<typeof postgresOn>> | undefined

for (const rule of rules)
  if (chosen?.includes(rule.store) ?? true)
    test(`${partOf(rule)}: ${rule.says}`, async () => {
      storage ??= await postgresOn(server())
      await check(rule, storage)
    })

test('the connection of the resets ends', async () => storage?.close())

run()
