// With --all only: a killed process.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { openDatabase } from '../../../src/storage/sqlite/database.ts'
import { closing } from '../../helpers/disposal.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import { assertAgreeing } from '../../helpers/personas/memory-indexes.ts'
import { personaStoreOf } from '../../helpers/storage/test-storage.ts'
import { suite } from '../../helpers/suite.ts'
import type { Action, Line } from './memory-killed-step.ts'

const killed = suite('memories of a process that is killed')

const isSource = import.meta.url.endsWith('.ts')
const stepFile = fileURLToPath(new URL(`./memory-killed-step.${isSource ? 'ts' : 'js'}`, import.meta.url))
const rounds = 8

/** The memories of each user's persona: id → category. */
type Remembered = Map<string, Map<string, string>>

killed(`are all there that were acknowledged, and no wiped one, after kill -9 in ${rounds} rounds`, async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'aichat.db')
  await makePersonas(path)
  let expected: Remembered = new Map([
    ['u1', new Map()],
    ['u2', new Map()],
  ])
  let interrupted = 0
  const halves = { stores: 0, wipes: 0 }
  for (let round = 0; round < rounds; round++) {
    const lines = await runUntilKilled(path, round)
    let begun: Action | undefined
    for (const { action, done } of lines) {
      if (action) begun = action
      if (!done || !begun) continue
      apply(expected, begun)
      halves[begun.wipe === undefined ? 'stores' : 'wipes']++
      begun = undefined
    }
    if (begun) interrupted++
    expected = await check(path, expected, begun)
  }
  assert.ok(interrupted > 0, 'no round was cut in the middle of a action')
  assert.ok(halves.stores > 0 && halves.wipes > 0, JSON.stringify(halves))
})

async function makePersonas(path: string): Promise<void> {
  const db = await openDatabase(path)
  const personas = personaStoreOf(db)
  for (const user of ['u1', 'u2'])
    await personas.save({
      id: `persona of ${user}`,
      user_id: user,
      name: 'p',
      model: 'm',
      parameters: {},
      created_at: 0,
      updated_at: 0,
    })
  db.close()
}

/** The lines of the process before it was killed, some actions after its start and at any time in the middle of one. */
async function runUntilKilled(path: string, round: number): Promise<Line[]> {
  const loader = isSource ? ['--import', 'tsx'] : []
  const child = spawn(process.execPath, [...loader, stepFile, path, String(round)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  let output = ''
  let isDoomed = false
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    if (isDoomed || output.split('"done"').length <= 6 + (round % 9)) return
    isDoomed = true
    // Milliseconds, spread evenly over the duration of some actions.
    setTimeout(() => child.kill('SIGKILL'), (round * 7) % 23)
  })
  const [, signal] = await ended
  assert.is(signal, 'SIGKILL', 'it ended by itself')
  // The last line may have been cut: its action was not acknowledged.
  const lines = output.split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line) as Line)
}

function apply(remembered: Remembered, { user, store, wipe }: Action): void {
  const memories = remembered.get(user)!
  for (const [id, category] of store ?? []) memories.set(id, category)
  if (wipe !== undefined)
    for (const [id, category] of memories) if (wipe === '' || wipe === category) memories.delete(id)
}

/**
 * Checks that text, index and vectors agree with all acknowledged actions; the one under way was done wholly or not at all,
 * but for a wipe by category. Returns the stored memories.
 */
async function check(path: string, expected: Remembered, begun: Action | undefined): Promise<Remembered> {
  await using db = closing(await openDatabase(path, { check: true }))
  assertAgreeing(db)
  assert.is(
    db.prepare('SELECT count(*) FROM memory_vector').pluck().get(),
    db.prepare('SELECT count(*) FROM memory').pluck().get(),
  )
  const found: Remembered = new Map([...expected.keys()].map((user) => [user, new Map()]))
  const rows = db.prepare<[], { user: string; id: string; category: string }>(
    'SELECT user_id AS user, id, category FROM memory JOIN memory_scope USING (scope_id)',
  )
  for (const { user, id, category } of rows.all()) found.get(user)!.set(id, category)
  const done = new Map([...expected].map(([user, memories]) => [user, new Map(memories)]))
  if (begun) apply(done, begun)
  const [before, after, now] = [expected, done, found].map(listed)
  // A wipe by category goes in slices: one that was never acknowledged may have begun.
  const isBegunWipe = Boolean(begun?.wipe) && holds(expected, found) && holds(found, done)
  assert.ok(
    now === before || now === after || isBegunWipe,
    `after ${JSON.stringify(begun)}\n${now}\nwas expected as\n${before}`,
  )
  return found
}

/** Whether everything in the second is in the first. */
function holds(whole: Remembered, part: Remembered): boolean {
  return [...part].every(([user, memories]) => [...memories.keys()].every((id) => whole.get(user)?.has(id)))
}

function listed(remembered: Remembered): string {
  return [...remembered].map(([user, memories]) => `${user}: ${[...memories].flat().sort().join(' ')}`).join('\n')
}

killed.run()
