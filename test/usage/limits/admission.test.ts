import * as assert from 'uvu/assert'
import { AppError } from '../../../src/errors.ts'
import type { Admission } from '../../../src/usage/limits/limits.ts'
import { LimitRefusal } from '../../../src/usage/limits/refusals.ts'
import { closing } from '../../helpers/disposal.ts'
import { errorOf } from '../../helpers/rejection.ts'
import { suite } from '../../helpers/suite.ts'
import { row } from '../../storage/contract/ledger.ts'
import { gpt, type LimitsUnderTest, noon, openLimitsUnderTest } from './limits-under-test.ts'

const test = suite('admission by limits')

const usd = 1_000_000_000

test('without a limit a request is admitted without an account, and its size is not asked', async () => {
  await using(async ({ limits }) => {
    const size = () => {
      throw new Error('asked')
    }
    assert.is(limits.admit({ user: 'ada', key: 'k' }, size), undefined)
    assert.is(limits.admitPlugin({ user: 'ada' }, gpt, size), undefined)
    await limits.set('user:eve', { tpm: 1 })
    assert.is(limits.admit({ user: 'ada', key: 'k' }, size), undefined)
    await limits.set('user:ada', { rpm: 1 })
    assert.ok(limits.admit({ user: 'ada' }, size))
  })
})

test('a refused request counts for none of its subjects, and is told the longest wait', async () => {
  await using(async ({ limits, admit, clock }) => {
    await limits.set('key:k', { rpm: 1 })
    await limits.set('user:ada', { rpm: 3 })
    await limits.set('all', { rpd: 100 })
    admit()?.release()
    for (let round = 0; round < 5; round++) {
      const refusal = refusalOf(() => admit())
      assert.equal(
        [refusal.status, refusal.provider, refusal.retryAfter, refusal.final, refusal.ofPlace],
        [429, { type: 'requests', code: 'rate_limit_exceeded' }, 61, true, false],
      )
    }
    clock.window += 1500
    assert.equal([refusalOf(() => admit()).retryAfter, refusalOf(() => admit()).final], [60, false])
    // The five refusals have taken nothing from the user.
    for (let round = 0; round < 2; round++) admit(undefined, { user: 'ada' })?.release()
    assert.is(refusalOf(() => admit(undefined, { user: 'ada' })).retryAfter, 60)
  })
})

test('of 60 a minute never 61 pass; each that was refused passes after its Retry-After', async () => {
  await using(async ({ limits, admit, clock }) => {
    await limits.set('key:k', { rpm: 60 })
    const passed: number[] = []
    for (let attempt = 0; attempt < 160; attempt++) {
      clock.window += 137
      try {
        admit()?.release()
      } catch (reason) {
        clock.window += (reason as AppError).retryAfter! * 1000
        admit()?.release()
      }
      passed.push(clock.window)
    }
    for (const from of passed) assert.ok(passed.filter((at) => at >= from && at <= from + 60_000).length <= 60)
  })
})

test('tokens are reserved with the estimate, and settled to what was used, less what was read from a cache', async () => {
  await using(async ({ limits, admit }) => {
    await limits.set('user:ada', { tpm: 1000, tpd: 5000 })
    const first = admit({ input: 300, output: 600 })!
    const refusal = refusalOf(() => admit({ input: 50, output: 51 }))
    assert.is(refusal.provider?.type, 'tokens')
    first.settle({ input: 290, cached: 200, output: 10 }, undefined)
    first.release()
    assert.is(first.headers()['x-ratelimit-remaining-tokens'], '900')
    const failed = admit({ input: 300, output: 600 })!
    failed.settle(undefined, undefined)
    failed.release()
    failed.release()
    const twice = admit({ input: 300, output: 600 })!
    twice.settle({ input: 300, output: 100 }, undefined)
    twice.settle({ input: 300, output: 50 }, undefined)
    twice.release()
    assert.is(twice.headers()['x-ratelimit-remaining-tokens'], '150')
    const large = refusalOf(() => admit({ input: 500, output: 501 }))
    assert.equal([large.retryAfter, large.final], [undefined, true])
    assert.match(large.message, /larger than this user may send: 1000 tokens a minute/)
  })
})

test('requests at the same time are counted until they end, and no longer', async () => {
  await using(async ({ limits, admit }) => {
    await limits.set('key:k', { parallel: 2 })
    const [one] = [admit()!, admit()!]
    const refusal = refusalOf(() => admit())
    assert.equal([refusal.retryAfter, refusal.final, refusal.provider?.type], [1, false, 'requests'])
    one.release()
    one.release()
    admit()
    refusalOf(() => admit())
    await limits.set('key:k', { parallel: 3 })
    admit()
    refusalOf(() => admit())
  })
})

test('a plugin is asked at each attempt, and refuses as a place beside which another may be asked', async () => {
  await using(async ({ limits, admit }) => {
    await limits.set('plugin:openai', { rpm: 1, parallel: 1, tpm: 100 })
    assert.is(admit(), undefined)
    const size = () => ({ input: 10, output: 20 })
    const first = limits.admitPlugin({ user: 'ada' }, gpt, size)!
    assert.is(
      first.reserve(gpt, () => null),
      undefined,
    )
    const second = limits.admitPlugin({ user: 'eve' }, gpt, size)!
    assert.is(refusalOf(() => second.reserve(gpt, () => 0)).ofPlace, true)
    assert.is(
      second.reserve({ plugin: null, model: 'tiny' }, () => 0),
      undefined,
    )
    first.settle({ input: 10, output: 5 }, undefined)
    second.release()
    first.release()
    const [view] = await limits.list()
    assert.is(view?.subject, 'plugin:openai')
  })
})

test('a budget for ten lets ten of fifty through at once, and the next when one has cost less', async () => {
  await using(async ({ limits, admit, storage }) => {
    await limits.set('user:ada', { budgets: [{ nano: 10 * usd, period: 'month' }] })
    const admissions = Array.from({ length: 50 }, () => admit()!)
    const outcomes = await Promise.allSettled(admissions.map(async (each) => each.reserve(gpt, () => usd)))
    const reserved = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    assert.is(reserved.length, 10)
    const refused = outcomes.find((each) => each.status === 'rejected')?.reason
    assert.equal([refused.provider.code, refused.retryAfter, refused.final], ['rate_limit_exceeded', 1, false])
    assert.equal((await limits.list())[0]?.budgets[0]?.reserved_usd, '10')
    await storage.ledger.append([
      row('a', 1, { reservation: reserved[0], cost: { nano: usd / 10, source: 'shipped', priceId: null } }),
    ])
    assert.ok(await admit()!.reserve(gpt, () => 0.9 * usd))
    await errorOf(() => admit()!.reserve(gpt, () => usd))
  })
})

test('a spent budget is final, and tells when the next period begins', async () => {
  await using(async ({ limits, admit, storage }) => {
    await limits.set('all', { budgets: [{ nano: usd, period: 'day' }] })
    await storage.ledger.append([row('a', 1, { cost: { nano: usd, source: 'shipped', priceId: null } })])
    const refusal = await errorOf(() => admit()!.reserve(gpt, () => 1))
    assert.equal(
      [refusal.status, refusal.provider, refusal.final, refusal.retryAfter],
      [429, { type: 'insufficient_quota', code: 'insufficient_quota' }, true, 12 * 3600],
    )
    assert.match(refusal.details.join(), /2026-06-02T00:00:00Z/)
    await limits.set('all', { budgets: [{ nano: 2 * usd, period: 'day' }] })
    assert.ok(await admit()!.reserve(gpt, () => usd))
    await limits.reset('all')
    assert.ok(await admit()!.reserve(gpt, () => usd))
    await errorOf(() => admit()!.reserve(gpt, () => 1))
  })
})

test('a budget of 0 lets nothing through that costs something, and what is free', async () => {
  await using(async ({ limits, admit }) => {
    await limits.set('key:k', { budgets: [{ nano: 0, period: 'day' }] })
    const refusal = await errorOf(() => admit()!.reserve(gpt, () => 1))
    assert.equal([refusal.final, refusal.retryAfter], [true, undefined])
    assert.is(await admit()!.reserve({ plugin: null, model: 'tiny' }, () => 0), undefined)
  })
})

test('what may cost more than the whole budget is refused for good', async () => {
  await using(async ({ limits, admit }) => {
    await limits.set('key:k', { budgets: [{ nano: usd, period: 'day' }] })
    const refusal = await errorOf(() => admit()!.reserve(gpt, () => 2 * usd))
    assert.equal([refusal.final, refusal.retryAfter], [true, undefined])
    assert.match(refusal.details.join(), /It may cost 2 USD/)
  })
})

test('a budget refuses a place without a price, unless its provider reports the cost', async () => {
  await using(async ({ limits, admit }) => {
    await limits.set('user:ada', { budgets: [{ nano: usd, period: 'day' }] })
    const refusal = await errorOf(() => admit()!.reserve(gpt, () => null))
    assert.equal([refusal.exit, refusal.provider?.code, refusal.final], [78, 'price_unknown', true])
    assert.ok(await admit()!.reserve({ plugin: 'openrouter', model: 'm' }, () => null))
  })
})

test('an attempt that was not sent, or failed before content, gives its reservation back', async () => {
  await using(async ({ limits, admit }) => {
    await limits.set('user:ada', { budgets: [{ nano: usd, period: 'day' }] })
    const reserved = async () => (await limits.list())[0]?.budgets[0]?.reserved_usd
    const first = admit()!
    await first.reserve(gpt, () => usd)
    first.settle(undefined, undefined)
    assert.is(await reserved(), '0')
    await first.reserve({ plugin: 'groq', model: 'm' }, () => usd)
    assert.is(await reserved(), '1')
    first.release()
    assert.is(await reserved(), '0')
    const booked = admit()!
    await booked.reserve(gpt, () => usd)
    booked.settle({ input: 1, output: 1 }, undefined)
    booked.release()
    assert.is(await reserved(), '1')
  })
})

test('attempts that have ended and wait for the ledger hold no budget', async () => {
  let write = async () => {}
  await using(
    async ({ limits, admit, storage }) => {
      await limits.set('user:ada', { budgets: [{ nano: usd, period: 'day' }] })
      const first = admit()!
      const reservation = await first.reserve(gpt, () => usd)
      first.settle({ input: 1, output: 1 }, undefined)
      first.release()
      write = async () => void (await storage.ledger.append([row('a', 1, { reservation })]))
      assert.ok(await admit()!.reserve(gpt, () => usd / 2))
    },
    () => write(),
  )
})

test('a stream under a hard budget goes on while the budget has more, and is cut where it has not', async () => {
  await using(async ({ limits, admit }) => {
    await limits.set('user:ada', { budgets: [{ nano: 1000, period: 'day', hard: true }] })
    const admission = admit()!
    await admission.reserve(gpt, () => 300)
    assert.is(
      admission.exceeded(() => 200),
      undefined,
    )
    assert.is(
      admission.exceeded(() => 290),
      undefined,
    )
    assert.is((await limits.list())[0]?.budgets[0]?.reserved_usd, '0.000000445')
    const held = await cutAt(admission)
    assert.ok(held > 445 && held <= 1000, String(held))
    const error = admission.exceeded(() => 1001)
    assert.equal([error?.status, error?.provider?.code, error?.final], [429, 'budget_exceeded', true])
    await limits.set('user:ada', { budgets: [{ nano: 1000, period: 'day' }] })
    const soft = admit(undefined, { user: 'ada' })!
    await limits.reset('user:ada')
    admission.release()
    await soft.reserve(gpt, () => 300)
    assert.is(
      soft.exceeded(() => 5000),
      undefined,
    )
  })
})

test('a budget that reaches its warning tells the client, and the log once in its period', async () => {
  await using(async ({ limits, admit, storage, warned, clock }) => {
    await limits.set('user:ada', { rpm: 100, budgets: [{ nano: 10 * usd, period: 'day' }] })
    const headersAfter = async () => {
      const admission = admit()!
      await admission.reserve(gpt, () => 1000)
      return admission.headers()['x-aichat-budget']
    }
    assert.is(await headersAfter(), undefined)
    await storage.ledger.append([row('a', 1, { cost: { nano: 8.5 * usd, source: 'shipped', priceId: null } })])
    assert.is(await headersAfter(), 'day;used=85;amount=10;scope=user')
    assert.is(await headersAfter(), 'day;used=85;amount=10;scope=user')
    assert.equal(warned, ['The budget of user:ada is at 85 %: 8.5 of 10 USD a day'])
    assert.is((await limits.list())[0]?.budgets[0]?.warning, true)
    clock.wall += 86_400_000
    assert.is(await headersAfter(), undefined)
    assert.is((await limits.list())[0]?.budgets[0]?.resets_at, Date.UTC(2026, 5, 3))
  })
})

test('a clock that is set back over the end of a month spends the month that had begun', async () => {
  await using(async ({ limits, admit, clock }) => {
    await limits.set('user:ada', { budgets: [{ nano: 10 * usd, period: 'month' }] })
    await admit()!.reserve(gpt, () => 9 * usd)
    clock.wall = Date.UTC(2026, 6, 1, 0, 10)
    await admit()!.reserve(gpt, () => 8 * usd)
    clock.wall -= 20 * 60_000
    await errorOf(() => admit()!.reserve(gpt, () => 3 * usd))
    await admit()!.reserve(gpt, () => 2 * usd)
    assert.is((await limits.list())[0]?.budgets[0]?.reserved_usd, '10')
  })
})

test('a change by another process is seen soon, and what is counted stays', async () => {
  await using(async ({ limits, admit, clock, open }) => {
    const other = await open()
    await limits.set('key:k', { rpm: 5 })
    for (let round = 0; round < 4; round++) admit()
    await other.set('key:k', { rpm: 3 })
    clock.window += 200
    refusalOf(() => admit())
    await other.set('key:k', { rpm: 5 })
    clock.window += 200
    admit()
    refusalOf(() => admit())
    await other.remove('key:k')
    clock.window += 200
    assert.is(admit(), undefined)
  })
})

test('windows survive a restart; those that wait for a first request count as they were', async () => {
  await using(async ({ limits, admit, clock, open }) => {
    await limits.set('key:k', { rpm: 3, tpm: 1000 })
    for (let round = 0; round < 3; round++) admit()?.release()
    await limits.save()
    clock.window += 5000
    const next = await open()
    const refusal = refusalOf(() => next.admit({ user: 'ada', key: 'k' }, () => ({ input: 1, output: 1 })))
    assert.is(refusal.retryAfter, 56)
  })
})

test('a storage that cannot be read refuses under a budget, and asks for patience', async () => {
  await using(async ({ limits, admit, storage }) => {
    await limits.set('user:ada', { rpm: 5, budgets: [{ nano: usd, period: 'day' }] })
    const { reserve } = storage.limits
    Object.assign(storage.limits, {
      reserve: () => {
        throw new AppError('io', 'The disk is full')
      },
    })
    const refusal = await errorOf(() => admit()!.reserve(gpt, () => 1))
    assert.equal([refusal.code, refusal.message], ['unavailable', 'The budgets cannot be counted: The disk is full'])
    Object.assign(storage.limits, { reserve })
  })
})

test('what a storage reserved before it went away is given back, as soon as it is there again', async () => {
  await using(async ({ limits, admit, storage }) => {
    await limits.set('user:ada', { budgets: [{ nano: usd, period: 'day' }] })
    const { reserve, cancel } = storage.limits
    const away = async (): Promise<never> => {
      throw new AppError('unavailable', 'The database cannot be reached')
    }
    Object.assign(storage.limits, {
      reserve: async (...asked: Parameters<typeof reserve>) => {
        await reserve(...asked)
        return away()
      },
      cancel: away,
    })
    const refusal = await errorOf(() => admit()!.reserve(gpt, () => 1))
    assert.is(refusal.code, 'unavailable')
    const reserved = async () => (await limits.list())[0]!.budgets[0]!.reserved_usd
    assert.is.not(await reserved(), '0')
    Object.assign(storage.limits, { reserve, cancel })
    await limits.save()
    assert.is(await reserved(), '0')
  })
})

test('headers tell the tightest limit in the names of the API', async () => {
  await using(async ({ limits, admit, clock }) => {
    await limits.set('key:k', { rpm: 60, tpm: 10_000 })
    await limits.set('all', { rpm: 1000, rpd: 30 })
    admit({ input: 100, output: 200 })
    clock.window += 2500
    const admission = admit({ input: 100, output: 200 })!
    assert.equal(admission.headers(), {
      'x-ratelimit-limit-requests': '30',
      'x-ratelimit-remaining-requests': '28',
      'x-ratelimit-reset-requests': '24h14m57.5s',
      'x-ratelimit-limit-tokens': '10000',
      'x-ratelimit-remaining-tokens': '9400',
      'x-ratelimit-reset-tokens': '1m0.5s',
      'ratelimit-policy': '"requests";q=30;w=86400, "tokens";q=10000;w=60',
      ratelimit: '"requests";r=28;t=87298, "tokens";r=9400;t=61',
    })
    const { 'anthropic-ratelimit-output-tokens-reset': reset, ...rest } = admission.headers('anthropic')
    assert.is(reset, '2026-06-01T12:01:03Z')
    assert.is(rest['anthropic-ratelimit-input-tokens-remaining'], '9400')
    assert.is(rest['anthropic-ratelimit-requests-limit'], '30')
    assert.is(rest['x-ratelimit-limit-requests'], undefined)
    await limits.set('all', { rpm: 2 })
    const { headers } = refusalOf(() => admit())
    assert.equal(
      [headers['x-ratelimit-remaining-requests'], headers['anthropic-ratelimit-requests-remaining']],
      ['0', '0'],
    )
    assert.is(noon, Date.UTC(2026, 5, 1, 12))
  })
})

test.run()

async function using(work: (all: LimitsUnderTest) => Promise<void>, flush?: () => Promise<void>): Promise<void> {
  await using all = closing(await openLimitsUnderTest(flush))
  await work(all)
}

function refusalOf(work: () => unknown): LimitRefusal {
  try {
    work()
  } catch (reason) {
    if (reason instanceof LimitRefusal) return reason
    throw reason
  }
  throw new Error('It was not refused')
}

/** The cost at which a stream that grows is cut. */
async function cutAt(admission: Admission): Promise<number> {
  for (let nano = 300; ; nano += 5) if (admission.exceeded(() => nano)) return nano
}
