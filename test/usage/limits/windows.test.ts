import * as assert from 'uvu/assert'
import { day, minute, type Span, Window } from '../../../src/usage/limits/windows.ts'
import { fc } from '../../helpers/properties.ts'
import { suite } from '../../helpers/suite.ts'

const noon = Date.UTC(2026, 5, 1, 12)

const test = suite('windows of requests and tokens')

/** Steady, in bursts, and late bursts that straddle the end of a minute: pauses in milliseconds. */
const pauses = fc.array(
  fc.oneof(
    fc.integer({ min: 0, max: 5 }),
    fc.integer({ min: 0, max: 2_500 }),
    fc.integer({ min: 55_000, max: 62_000 }),
  ),
  { minLength: 100, maxLength: 400 },
)

test('no span of a minute holds more than the limit, whenever requests come', () => {
  fc.assert(
    fc.property(pauses, fc.integer({ min: 0, max: 999 }), (gaps, phase) => {
      const admitted = passedOf(minute, 60, gaps, noon + phase)
      assert.ok(mostIn(admitted, 60_000) <= 60, `${mostIn(admitted, 60_000)} in a minute`)
    }),
    { numRuns: 200 },
  )
})

test('no span of a day holds more than the limit', () => {
  fc.assert(
    fc.property(pauses, (gaps) => {
      const admitted = passedOf(
        day,
        20,
        gaps.map((gap) => gap * 700),
        noon,
      )
      assert.ok(mostIn(admitted, 86_400_000) <= 20)
    }),
    { numRuns: 50 },
  )
})

test('a burst at the end of a minute and one at the begin of the next are 60 together', () => {
  const burst = Array.from({ length: 100 }, () => 1)
  assert.is(mostIn(passedOf(minute, 60, [...burst, 700, ...burst, 58_000, ...burst], noon + 59_000), 60_000), 60)
})

test('after the wait that it was told, 100 of 100 requests pass, and none a second earlier', () => {
  fc.assert(
    fc.property(pauses, fc.integer({ min: 1, max: 5 }), (gaps, count) => {
      const window = new Window(minute, 60)
      let now = noon
      for (const gap of gaps) {
        now += gap
        const wait = window.wait(count, now)
        if (wait === 0) window.take(count, now)
        else {
          assert.is(window.wait(count, now + Math.ceil(wait / 1000) * 1000), 0)
          return
        }
      }
    }),
    { numRuns: 100 },
  )
  const window = new Window(minute, 1)
  window.take(1, noon)
  assert.equal([window.wait(1, noon), window.wait(1, noon + 60_999)], [61_000, 1])
  assert.is(window.wait(1, noon + 61_000), 0)
})

test('more than the limit never passes', () => {
  assert.is(new Window(minute, 60).wait(61, noon), Number.POSITIVE_INFINITY)
})

test('what is given back is free at once, what comes on top counts, and nothing is given back twice', () => {
  const window = new Window(minute, 1000)
  const slot = window.take(900, noon)
  window.correct(slot, -800, noon + 3000)
  assert.is(window.remaining(noon + 3000), 900)
  window.correct(slot, 500, noon + 5000)
  assert.equal([window.remaining(noon + 5000), window.remaining(noon + 61_000)], [400, 500])
  window.correct(slot, -100, noon + 61_000)
  assert.is(window.remaining(noon + 61_000), 500)
  const next = window.take(10, noon + 70_000)
  window.correct(next, -500, noon + 70_000)
  assert.is(window.remaining(noon + 70_000), 1000)
})

test('a clock that jumps back gives nothing twice', () => {
  const window = new Window(minute, 2)
  window.take(2, noon)
  assert.ok(window.wait(1, noon - 3_600_000) > 0)
  assert.is(window.wait(1, noon + 61_000), 0)
})

test('a window is the same after a restart, and counts all as of now where the clock was set back meanwhile', () => {
  const window = new Window(minute, 60)
  for (let second = 0; second < 30; second++) window.take(2, noon + second * 1000)
  const now = noon + 30_000
  assert.ok(window.wait(1, now) > 0)
  const saved = JSON.parse(JSON.stringify(window.save(now)))
  const next = new Window(minute, 60)
  next.load(saved, now)
  assert.is(next.wait(1, now), window.wait(1, now))
  assert.is(next.resetMs(now), window.resetMs(now))
  const late = new Window(minute, 60)
  late.load(saved, noon + 75_000)
  assert.is(late.remaining(noon + 75_000), 30)
  const back = new Window(minute, 60)
  back.load(saved, noon - 86_400_000)
  assert.is(back.wait(1, noon - 86_400_000), 61_000)
})

test('the reset is the time at which nothing is counted any more', () => {
  const window = new Window(minute, 60)
  assert.is(window.resetMs(noon), 0)
  window.take(1, noon)
  window.take(1, noon + 10_000)
  assert.equal([window.resetMs(noon + 10_500), window.resetMs(noon + 71_000)], [60_500, 0])
})

test.run()

/** The times at which requests with these gaps pass. */
function passedOf(span: Span, limit: number, gaps: readonly number[], from: number): readonly number[] {
  const window = new Window(span, limit)
  const passed: number[] = []
  let now = from
  for (const gap of gaps) {
    now += gap
    if (window.wait(1, now) > 0) continue
    window.take(1, now)
    passed.push(now)
  }
  return passed
}

/** The most of these times in any span of that length, both ends included. */
function mostIn(times: readonly number[], length: number): number {
  let most = 0
  let first = 0
  for (const [at, time] of times.entries()) {
    while (times[first]! < time - length) first++
    most = Math.max(most, at - first + 1)
  }
  return most
}
