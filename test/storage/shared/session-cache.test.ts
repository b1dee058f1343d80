import * as assert from 'uvu/assert'
import { createSessionCache } from '../../../src/storage/shared/session-cache.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('a cache of live logins')

interface Row {
  readonly user: string
}

const gone = Object.assign(new Error('away'), { code: 'ECONNREFUSED' })

/** A cache over rows that a test changes, with a clock that it sets. */
function opened(graceMs: number) {
  const state = {
    mark: '1' as string | undefined,
    rows: new Map<string, Row>([['a', { user: 'ada' }]]),
    now: 0,
    isAway: false,
    reads: 0,
  }
  const session = createSessionCache<Row>(
    () => state.mark,
    async (id) => {
      state.reads++
      if (state.isAway) throw gone
      return state.rows.get(id)
    },
    {
      ms: graceMs,
      now: () => state.now,
      answeredAt: () => state.now,
      isAway: () => state.isAway,
      forgives: (reason) => reason === gone,
    },
  )
  return { state, session }
}

test('a login is read once, and again after any change', async () => {
  const { state, session } = opened(0)
  assert.equal(await session('a'), { user: 'ada' })
  assert.equal(session('a'), { user: 'ada' }, 'at once')
  assert.is(state.reads, 1)
  state.mark = '2'
  state.rows.delete('a')
  assert.is(await session('a'), undefined)
})

test('while nothing can be told of changes, each login is read', async () => {
  const { state, session } = opened(0)
  state.mark = undefined
  await session('a')
  await session('a')
  assert.is(state.reads, 2)
})

test('a login that was checked within the grace goes on while the database is away, and no longer', async () => {
  const { state, session } = opened(30_000)
  await session('a')
  state.now = 5000
  assert.equal(session('a'), { user: 'ada' })
  state.isAway = true
  state.mark = undefined
  state.now = 34_999
  assert.equal(await session('a'), { user: 'ada' })
  state.now = 35_000
  assert.is(await outcomeOf(session('a')), gone)
  assert.is(await outcomeOf(session('b')), gone, 'one that was never checked')
})

test('a login that had ended before the database went away gets no grace', async () => {
  const { state, session } = opened(30_000)
  await session('a')
  state.rows.delete('a')
  state.mark = '2'
  assert.is(await session('a'), undefined)
  state.isAway = true
  state.mark = undefined
  assert.is(await outcomeOf(session('a')), gone)
})

test('without a grace, nothing goes on', async () => {
  const { state, session } = opened(0)
  await session('a')
  state.isAway = true
  state.mark = undefined
  assert.is(await outcomeOf(session('a')), gone)
})

test.run()

async function outcomeOf(work: unknown): Promise<unknown> {
  try {
    return await work
  } catch (reason) {
    return reason
  }
}
