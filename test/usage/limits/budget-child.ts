/** Reserves 25 times at once in a budget for ten, when told to on stdin, and tells how many it got: `budget-child.ts SETTINGS`. */

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { openStorage } from '../../../src/storage/storage.ts'
import { budget, reservation } from '../../storage/contract/limits.ts'

const storage = await openStorage(JSON.parse(process.argv[2]!))
await storage.limits.changes(0)
process.stdout.write('ready\n')
await once(process.stdin, 'data')
const outcomes = await Promise.all(Array.from({ length: 25 }, reserve))
await storage.close()
process.stdout.write(`${outcomes.filter(({ refused }) => refused === undefined).length}\n`)
process.stdin.destroy()

/** Reserves once. Asks again where no connection was made in its second, as on a busy machine: nothing is reserved then. */
async function reserve() {
  const wanted = reservation(randomUUID(), 7)
  for (;;)
    try {
      return await storage.limits.reserve(wanted, [budget('user:ada', 70)])
    } catch (reason) {
      if ((reason as { code?: string }).code !== 'unavailable') throw reason
    }
}
