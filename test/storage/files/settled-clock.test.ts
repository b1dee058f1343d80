import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openSettledClock } from '../../../src/storage/files/settled-clock.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('the clock by which what is old is removed')

const hour = 3_600_000
const day = 24 * hour
const begin = Date.UTC(2026, 10, 23)

/** A folder, and the time that a new process in it sees. */
function place() {
  const folder = mkdtempSync(join(tmpdir(), 'aichat-clock-'))
  return {
    seenAt: (now: number) => openSettledClock(folder, () => now)(),
    folder,
    remove: () => rmSync(folder, { recursive: true }),
  }
}

test('goes with the clock while that goes steadily, also over restarts', () => {
  const { seenAt, remove } = place()
  for (let hours = 0; hours < 100; hours += 20) assert.is(seenAt(begin + hours * hour), begin + hours * hour)
  remove()
})

test('stands still where the clock jumps a year, on the way there and on the way back, for a day each', () => {
  const { seenAt, remove } = place()
  seenAt(begin)
  assert.is(seenAt(begin + 365 * day), begin)
  assert.is(seenAt(begin + 365 * day + hour), begin)
  assert.is(seenAt(begin + 2 * hour), begin)
  assert.is(seenAt(begin + 20 * hour), begin)
  assert.is(seenAt(begin + 27 * hour), begin + 27 * hour)
  remove()
})

test('goes on a day after a machine that was off for two months is on again', () => {
  const { seenAt, remove } = place()
  seenAt(begin)
  const on = begin + 60 * day
  for (const hours of [0, 10, 23]) assert.is(seenAt(on + hours * hour), begin)
  assert.is(seenAt(on + 24 * hour), on + 24 * hour)
  remove()
})

test('is never ahead of a clock that went back', () => {
  const { seenAt, remove } = place()
  seenAt(begin)
  assert.is(seenAt(begin - 365 * day), begin - 365 * day)
  remove()
})

test('goes with the clock where commands come once a week alone', () => {
  const { seenAt, remove } = place()
  for (let week = 0; week < 4; week++) assert.is(seenAt(begin + week * 7 * day), begin + week * 7 * day)
  remove()
})

test('a folder that cannot be written costs no answer', () => {
  const { folder, remove } = place()
  assert.is(openSettledClock(join(folder, 'absent\0'), () => begin)(), begin)
  remove()
})

test.run()
