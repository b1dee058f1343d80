/** Reserves 25 times at once in a budget for ten, when told to on stdin, and tells how many it got: `budget-child.ts FOLDER`. */

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { budget, reservation } from '../../storage/contract/limits.ts'
import { openStorageIn } from '../../storage/test-storage.ts'

const storage = await openStorageIn(process.argv[2]!)
await storage.limits.changes(0)
process.stdout.write('ready\n')
await once(process.stdin, 'data')
const outcomes = await Promise.all(
  Array.from({ length: 25 }, async () =>
    storage.limits.reserve(reservation(randomUUID(), 7), [budget('user:ada', 70)]),
  ),
)
await storage.close()
process.stdout.write(`${outcomes.filter(({ refused }) => refused === undefined).length}\n`)
process.stdin.destroy()
