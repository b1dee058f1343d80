import * as assert from 'uvu/assert'
import { AppError } from '../../../src/errors.ts'
import type { LimitDocument } from '../../../src/usage/limits/documents.ts'
import { LimitRefusal } from '../../../src/usage/limits/refusals.ts'
import { createSharedDesk, type SharedDesk } from '../../../src/usage/limits/shared-desk.ts'
import type { ChangedCounts, LimitStore } from '../../../src/usage/limits/store.ts'
import { suite } from '../../helpers/suite.ts'
import { noon } from './limits-under-test.ts'

const test = suite('limits that several instances share')

test('never more than the limit passes in a minute over all instances, and none is refused while a tenth is free', async () => {
  for (const limit of [1, 7, 60, 400]) {
    const { desks, take, advance, clock } = openShared({ all: { rpm: limit } }, 3)
    const passed: number[] = []
    const since = (ms: number) => passed.filter((at) => at > clock() - ms).length
    // Twice as many as may pass, for more than a minute, from all of them and then from one more than from the others.
    for (let at = 0; at < 2.5 * limit; at++) {
      const desk = desks[at < limit ? at % 3 : (at >> 1) % 2]!
      if (await take(desk)) {
        passed.push(clock())
        assert.ok(since(60_000) <= limit, `${since(60_000)} of ${limit}`)
      } else assert.ok(since(61_000) >= limit * 0.9, `${since(61_000)} of ${limit}`)
      advance(30_000 / limit)
      // As its timer does.
      for (const each of desks) await each.settle()
    }
    assert.ok(passed.length >= limit)
  }
})

test('a request of one instance after an idle minute, or an idle day, passes at once', async () => {
  for (const [document, idle] of [
    [{ rpm: 2 }, 62_000],
    [{ rpd: 2 }, 97 * 15 * 60_000],
    [{ tpm: 20 }, 62_000],
  ] as const) {
    const { desks, take, advance } = openShared({ all: document }, 2)
    assert.ok(await take(desks[0]!, 10))
    assert.ok(await take(desks[1]!, 10))
    assert.is(await take(desks[1]!, 10), undefined)
    advance(idle)
    assert.ok(await take(desks[1]!, 10))
  }
})

test('requests that come together are one question, and those that come meanwhile the next', async () => {
  const { desks, take, asked } = openShared({ 'user:ada': { rpm: 4000, tpm: 4_000_000 }, all: { parallel: 4000 } })
  const subjects = ['user:ada', 'all']
  const grants = await Promise.all(Array.from({ length: 20 }, () => take(desks[0]!, 100, subjects)))
  assert.is(asked(), 2)
  const headers = grants.at(-1)!.headers('openai')
  assert.is(headers['x-ratelimit-remaining-requests'], String(4000 - 20))
  assert.is(headers['x-ratelimit-remaining-tokens'], String(4_000_000 - 2000))
})

test('tokens are corrected to those that were used, and a request that was not sent counts for nothing', async () => {
  const { desks, take, counted } = openShared({ all: { rpm: 10, tpm: 1000 } }, 2)
  const [one, other] = desks as [SharedDesk, SharedDesk]
  const first = (await take(one, 900))!
  assert.is(await take(other, 200), undefined)
  one.end(first.ticket, -850)
  await one.settle()
  assert.is(counted('tpm'), 50)
  const second = (await take(other, 900))!
  other.undo(second.ticket, 900)
  await other.settle()
  assert.equal([counted('rpm'), counted('tpm')], [1, 50])
  other.end((await take(other, 10))!.ticket, 300)
  await other.settle()
  assert.is(counted('tpm'), 360)
})

test('requests at the same time are counted over all, until they end or their process does', async () => {
  const { desks, take, places, kill, advance } = openShared({ all: { parallel: 4 } }, 2)
  const [one, other] = desks as [SharedDesk, SharedDesk]
  const grants = [await take(one), await take(one), await take(other), await take(other)]
  assert.ok(grants.every(Boolean))
  assert.is(await take(one), undefined)
  one.end(grants[0]!.ticket, 0)
  await one.settle()
  assert.ok(await take(other))
  assert.equal(places(), [1, 3])
  assert.is(await take(one), undefined)
  kill(1)
  advance(1000)
  assert.ok(await take(one))
  assert.equal(places(), [2, 0])
  await one.close()
  assert.equal(places(), [2, 0], 'they still run')
})

test('a desk that closes tells what has ended', async () => {
  const { desks, take, counted, places } = openShared({ all: { rpm: 4000, parallel: 400 } })
  const grants = []
  for (let at = 0; at < 20; at++) grants.push((await take(desks[0]!))!)
  for (const { ticket } of grants) desks[0]!.end(ticket, 0)
  await desks[0]!.close()
  assert.equal([counted('rpm'), places()], [20, [0]])
})

test('without the storage each counts by what it knew within the grace, and tells it later', async () => {
  const { desks, take, state, counted, places } = openShared({ all: { rpm: 5, tpm: 100, parallel: 4 } }, 2)
  const [one, other] = desks as [SharedDesk, SharedDesk]
  await take(one, 10)
  await take(other, 10)
  for (const isKnown of [false, true]) {
    state.isAway = true
    state.isKnown = isKnown
    const grant = (await take(one, 10))!
    one.end(grant.ticket, -5)
    state.isAway = false
    await one.settle()
    await one.settle()
  }
  assert.equal([counted('rpm'), counted('tpm'), places()], [4, 30, [1, 1]])
  state.isAway = true
  assert.ok(await take(one, 10))
  assert.is(await take(one, 10), undefined, 'five are known')
  state.isUsable = false
  for (const isKnown of [false, true]) {
    state.isKnown = isKnown
    await rejectsAs(take(other, 10), 'unavailable')
  }
})

test('limits that change or go are followed, and requests under way end well', async () => {
  const documents: Record<string, LimitDocument> = { all: { rpm: 5 }, 'user:ada': { parallel: 1 } }
  const { desks, take, places } = openShared(documents)
  const desk = desks[0]!
  const first = (await take(desk, 10, ['all', 'user:ada']))!
  documents['all'] = { rpm: 5, tpm: 25 }
  assert.ok(await take(desk, 20))
  assert.is(await take(desk, 20), undefined)
  documents['user:ada'] = { rpm: 9 }
  desk.end(first.ticket, 3)
  await desk.settle()
  assert.equal(places('user:ada'), [0])
  delete documents['all']
  assert.ok(await take(desk, 20))
  await desk.close()
})

test.run()

/** Desks of several instances over one storage in memory, with a clock that stands still until it is set. */
function openShared(documents: Record<string, LimitDocument>, count = 1) {
  /** By subject and instance. */
  const rows = new Map<string, { windows: ChangedCounts['windows']; here: number[] }>()
  const state = { isAway: false, isKnown: false, isUsable: true }
  const dead = new Set<number>()
  let now = noon
  let asked = 0
  const storeOf = (instance: number): Pick<LimitStore, 'share' | 'dropEnded'> => ({
    async share(subjects, change) {
      asked++
      if (state.isAway) throw new AppError('unavailable', 'away')
      const found = subjects.flatMap((subject) => {
        if (!documents[subject]) return []
        const { windows, here } = rows.get(subject) ?? { windows: {}, here: [] }
        const elsewhere = here.reduce((sum, each, at) => sum + (at === instance ? 0 : each), 0)
        return [[subject, { windows, elsewhere }] as const]
      })
      // A call that is made again counts for nothing.
      change(new Map(found), now)
      const { counts, result } = change(new Map(found), now)
      for (const [subject, { windows, here }] of counts) {
        const before = rows.get(subject) ?? { windows: {}, here: Array.from({ length: count }, () => 0) }
        const changed = before.here.map((each, at) => (at === instance ? here : each))
        rows.set(subject, { windows: { ...before.windows, ...windows }, here: changed })
      }
      return result
    },
    async dropEnded(subjects) {
      for (const subject of subjects) for (const at of dead) if (rows.has(subject)) rows.get(subject)!.here[at] = 0
      return dead.size > 0
    },
  })
  const desks = Array.from({ length: count }, (_, at) =>
    createSharedDesk({
      store: storeOf(at),
      find: (subject) => documents[subject],
      look() {},
      now: () => now,
      isAway: () => state.isAway && state.isKnown,
      goesOn: () => state.isUsable,
    }),
  )
  return {
    desks,
    state,
    /** Questions so far. */
    asked: () => asked,
    clock: () => now,
    advance(ms: number) {
      now += ms
    },
    kill: (instance: number) => void dead.add(instance),
    /** Undefined where it is refused. */
    async take(desk: SharedDesk, tokens = 0, subjects: readonly string[] = ['all']) {
      try {
        return await desk.take(subjects, tokens)
      } catch (reason) {
        if (reason instanceof LimitRefusal) return undefined
        throw reason
      }
    },
    /** What the storage counts. */
    counted(name: 'rpm' | 'tpm') {
      const slots = rows.get('all')?.windows[name] ?? []
      return slots.reduce((sum, each, at) => (at % 2 === 0 ? sum : sum + each), 0)
    },
    places: (subject = 'all') => rows.get(subject)!.here,
  }
}

async function rejectsAs(work: Promise<unknown>, code: string): Promise<void> {
  const failure = await work.then(
    () => undefined,
    (reason) => reason,
  )
  assert.is((failure as AppError | undefined)?.code, code)
}
