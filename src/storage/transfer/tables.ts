import { backupTables } from './backup-parts.ts'
import type { TransferTable } from './table.ts'
import { accountTables } from './tables-accounts.ts'
import { chatTables } from './tables-chats.ts'
import { memoryTables } from './tables-memories.ts'
import { personaTables } from './tables-personas.ts'
import { usageTables } from './tables-usage.ts'

/** All that an installation keeps, each table behind those that its rows name. */
export const tables: readonly TransferTable[] = [
  ...accountTables,
  ...personaTables,
  ...backupTables,
  ...memoryTables,
  ...chatTables,
  ...usageTables,
]
