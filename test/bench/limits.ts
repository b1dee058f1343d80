import { performance } from 'node:perf_hooks'
import type { LimitArea } from '../../src/usage/limits/area.ts'
import { openLimitsUnderTest } from '../usage/limits/limits-under-test.ts'

const rounds = 5
const requests = 100_000
const reservations = 2_000

const size = { input: 500, output: 1000 }
const amounts = { input: 480, cached: 100, output: 300 }
const gpt = { plugin: 'openai', model: 'gpt' }

/**
 * The cost of limits per request, in microseconds: the best of some rounds. Aim: 2 for admission and settling without a
 * budget.
 */
export async function bench(): Promise<void> {
  await measure('no limit at all', async () => undefined)
  await measure('limits of others', (limits) => limits.set('user:eve', { rpm: 5 }))
  await measure('rpm of the key', (limits) => limits.set('key:k', { rpm: 1e9 }))
  await measure('rpm and tpm of the key, rpm and parallel of all', async (limits) => {
    await limits.set('key:k', { rpm: 1e9, tpm: 1e12 })
    await limits.set('all', { rpm: 1e9, parallel: 1000 })
  })
  await measureMoney()
}

async function measure(what: string, set: (limits: LimitArea) => Promise<unknown>): Promise<void> {
  const { limits, clock, close } = await openLimitsUnderTest()
  await set(limits)
  const subjects = { user: 'ada', key: 'k' }
  const best = {
    plain: Number.POSITIVE_INFINITY,
    openai: Number.POSITIVE_INFINITY,
    anthropic: Number.POSITIVE_INFINITY,
  }
  for (let round = 0; round < rounds; round++)
    for (const names of ['plain', 'openai', 'anthropic'] as const) {
      const begun = performance.now()
      for (let at = 0; at < requests; at++) {
        clock.window += 0.25
        const admission = limits.admit(subjects, () => size)
        if (!admission) continue
        void admission.reserve(gpt, () => null)
        admission.settle(amounts, undefined)
        if (names !== 'plain') admission.headers(names)
        admission.release()
      }
      best[names] = Math.min(best[names], ((performance.now() - begun) / requests) * 1000)
    }
  await close()
  process.stdout.write(
    `${what}: ${best.plain.toFixed(2)} µs; with OpenAI's headers ${best.openai.toFixed(2)}, Anthropic's ${best.anthropic.toFixed(2)}\n`,
  )
}

async function measureMoney(): Promise<void> {
  const { limits, close } = await openLimitsUnderTest()
  await limits.set('key:k', { budgets: [{ nano: 1e15, period: 'month' }] })
  await limits.set('all', { budgets: [{ nano: 1e15, period: 'month' }] })
  const times: number[] = []
  for (let at = 0; at < reservations; at++) {
    const begun = performance.now()
    const admission = limits.admit({ user: 'ada', key: 'k' }, () => size)!
    await admission.reserve(gpt, () => 1000)
    times.push((performance.now() - begun) * 1000)
    admission.settle(amounts, undefined)
    admission.release()
  }
  await close()
  times.sort((a, b) => a - b)
  const quantile = (share: number) => times[Math.floor(times.length * share)]!.toFixed(0)
  process.stdout.write(`a reservation in two budgets: p50 ${quantile(0.5)} µs, p99 ${quantile(0.99)} µs\n`)
}
