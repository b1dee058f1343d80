/**
 * A process that reserves money: `reserving-child.ts SETTINGS NAME COUNT`. It says `ready` when its storage is open, reserves when a
 * line comes, says how many reservations passed, and holds them until it is killed.
 */
import { once } from 'node:events'
import { openStorage } from '../../../src/storage/storage.ts'
import { budget, reservation } from '../contract/limits.ts'

const [settings = '', name = '', count = ''] = process.argv.slice(2)
const { limits } = await openStorage(JSON.parse(settings))
await limits.windows()
process.stdout.write('ready\n')
await once(process.stdin, 'data')
const outcomes = await Promise.all(
  Array.from({ length: Number(count) }, async (_, at) =>
    limits.reserve(reservation(`${name}-${at}`, 3), [budget('user:ada', 30), budget('all', 1000)]),
  ),
)
process.stdout.write(`${outcomes.filter(({ refused }) => refused === undefined).length}\n`)
