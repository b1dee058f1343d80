import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { openStorage, type StorageSettings } from '../../../src/storage/storage.ts'
import { createDays } from '../../../src/usage/days.ts'
import { rowOfOrphan } from '../../../src/usage/limits/orphans.ts'
import { closing } from '../../helpers/disposal.ts'
import { budget } from '../../storage/contract/limits.ts'

/** So many processes reserve 25 times each at once in a budget for ten, and end: asserts that ten got it, and are booked. */
export async function assertSharedBudget(settings: StorageSettings, processes: number): Promise<void> {
  await using storage = closing(await openStorage(settings))
  const children = Array.from({ length: processes }, () => begin(settings))
  for (const { lines } of children) assert.is((await lines.next()).value, 'ready')
  for (const { child } of children) child.stdin.write('go\n')
  const got: number[] = []
  for (const { lines } of children) got.push(Number((await lines.next()).value))
  for (const { child, exit } of children) assert.equal([...(await exit)], [0, null], `${child.pid}`)
  assert.is(
    got.reduce((sum, each) => sum + each),
    10,
    got.join(),
  )
  const [spend] = await storage.limits.spends([budget('user:ada', 70)])
  assert.is(spend?.reserved, 70)
  // All processes have ended and booked nothing: their reservations count as spent.
  const orphans = await storage.limits.orphans()
  assert.is(orphans.length, 10)
  const days = createDays('UTC')
  assert.is(await storage.ledger.append(orphans.map((orphan) => rowOfOrphan(orphan, days))), 10)
  const [after] = await storage.limits.spends([budget('user:ada', 70)])
  assert.equal([after?.spent, after?.reserved], [70, 0])
  assert.equal(await storage.ledger.check(), [])
}

const isSource = import.meta.url.endsWith('.ts')

function begin(settings: StorageSettings) {
  const file = fileURLToPath(new URL(`./budget-child.${isSource ? 'ts' : 'js'}`, import.meta.url))
  const words = [...(isSource ? ['--import', 'tsx'] : []), file, JSON.stringify(settings)]
  const child = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit'] })
  const exit = once(child, 'exit')
  return { child, exit, lines: createInterface(child.stdout)[Symbol.asyncIterator]() }
}
