import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { createDays } from '../../../src/usage/days.ts'
import { rowOfOrphan } from '../../../src/usage/limits/orphans.ts'
import { budget } from '../../storage/contract/limits.ts'
import { openStorageIn } from '../../storage/test-storage.ts'
import { suite } from '../../suite.ts'

const test = suite('budgets of several processes')

test('two processes that reserve 25 times each at once get the ten that a budget has', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'aichat-budgets-'))
  const storage = await openStorageIn(folder)
  try {
    const children = [begin(folder), begin(folder)]
    for (const { lines } of children) assert.is((await lines.next()).value, 'ready')
    for (const { child } of children) child.stdin.write('go\n')
    const got: number[] = []
    for (const { lines } of children) got.push(Number((await lines.next()).value))
    for (const { child, exit } of children) assert.equal([...(await exit)], [0, null], `${child.pid}`)
    assert.is(got[0]! + got[1]!, 10, got.join())
    const [spend] = await storage.limits.spends([budget('user:ada', 70)])
    assert.is(spend?.reserved, 70)
    // Both have ended and booked nothing: all that they reserved counts as spent.
    const orphans = await storage.limits.orphans()
    assert.is(orphans.length, 10)
    const days = createDays('UTC')
    assert.is(await storage.ledger.append(orphans.map((orphan) => rowOfOrphan(orphan, days))), 10)
    const [after] = await storage.limits.spends([budget('user:ada', 70)])
    assert.equal([after?.spent, after?.reserved], [70, 0])
    assert.equal(await storage.ledger.check(), [])
  } finally {
    await storage.close()
    rmSync(folder, { recursive: true, force: true })
  }
})

test.run()

const isSource = import.meta.url.endsWith('.ts')

function begin(folder: string) {
  const file = fileURLToPath(new URL(`./budget-child.${isSource ? 'ts' : 'js'}`, import.meta.url))
  const child = spawn(process.execPath, [...(isSource ? ['--import', 'tsx'] : []), file, folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exit = once(child, 'exit')
  return { child, exit, lines: createInterface(child.stdout)[Symbol.asyncIterator]() }
}
