import * as assert from 'uvu/assert'
import { createPeriods, type PeriodKind, zoneName } from '../../../src/usage/limits/periods.ts'
import { fc } from '../../helpers/properties.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('periods of budgets')

const hourMs = 3_600_000

/** What a period is, its kind and zone, a moment, and the period's first moment and end, all in UTC. */
const cases: readonly (readonly [string, PeriodKind, string, string, string, string])[] = [
  ['a day in UTC', 'day', 'UTC', '2026-11-22T00:00', '2026-11-22T00:00', '2026-11-23T00:00'],
  ['a day east of UTC', 'day', 'Asia/Kolkata', '2026-11-22T18:29:59', '2026-11-21T18:30', '2026-11-22T18:30'],
  ['a day of 23 hours', 'day', 'Europe/Berlin', '2026-03-29T12:00', '2026-03-28T23:00', '2026-03-29T22:00'],
  ['a day of 25 hours', 'day', 'Europe/Berlin', '2026-10-25T00:30', '2026-10-24T22:00', '2026-10-25T23:00'],
  ['a day without 00:00', 'day', 'Africa/Cairo', '2026-04-24T12:00', '2026-04-23T22:00', '2026-04-24T21:00'],
  ['a zone that left out a date', 'day', 'Pacific/Apia', '2011-12-30T09:59:59', '2011-12-29T10:00', '2011-12-30T10:00'],
  ['a week that begins on Monday', 'week', 'UTC', '2026-11-22T23:59:59', '2026-11-16T00:00', '2026-11-23T00:00'],
  ['a Monday', 'week', 'UTC', '2026-11-23T00:00', '2026-11-23T00:00', '2026-11-30T00:00'],
  [
    'a week with a change of the clocks',
    'week',
    'America/New_York',
    '2026-11-01T05:30',
    '2026-10-26T04:00',
    '2026-11-02T05:00',
  ],
  ['the end of a month', 'month', 'Europe/Berlin', '2026-11-30T22:59:59', '2026-10-31T23:00', '2026-11-30T23:00'],
  ['the start of the next', 'month', 'Europe/Berlin', '2026-11-30T23:00', '2026-11-30T23:00', '2026-12-31T23:00'],
  ['the end of a year', 'month', 'America/Los_Angeles', '2027-01-01T07:59:59', '2026-12-01T08:00', '2027-01-01T08:00'],
  ['a leap day', 'month', 'UTC', '2028-02-29T12:00', '2028-02-01T00:00', '2028-03-01T00:00'],
  ['a week over the end of a year', 'week', 'UTC', '2027-01-01T12:00', '2026-12-28T00:00', '2027-01-04T00:00'],
]

for (const [what, kind, zone, at, start, end] of cases)
  test(`${what}: its period is from its first moment to that of the next`, () => {
    const period = createPeriods()(kind, zone, Date.parse(`${at}Z`))
    assert.equal([time(period.start), time(period.end)], [start, end])
  })

test('every moment lies in its period, whose ends meet those of its neighbours', () => {
  const kinds = fc.constantFrom<PeriodKind>('day', 'week', 'month')
  const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'Pacific/Kiritimati')
  const times = fc.integer({ min: Date.UTC(2024, 0), max: Date.UTC(2030, 0) })
  fc.assert(
    fc.property(kinds, zones, times, (kind, zone, at) => {
      const { start, end } = createPeriods()(kind, zone, at)
      assert.ok(start <= at && at < end)
      assert.is(createPeriods()(kind, zone, end).start, end)
      assert.is(createPeriods()(kind, zone, start - 1).end, start)
      assert.is(createPeriods()(kind, zone, end - 1).start, start)
    }),
    { numRuns: 150 },
  )
})

test('the days of a period are those of its zone', () => {
  const periods = createPeriods()
  const { days } = periods('month', 'Asia/Tokyo', Date.parse('2028-02-10T00:00:00Z'))
  assert.equal(days, { first: '2028-02-01', last: '2028-02-29' })
  assert.equal(periods('day', 'Asia/Tokyo', Date.parse('2026-12-31T15:00:00Z')).days, {
    first: '2027-01-01',
    last: '2027-01-01',
  })
})

test('a remembered period ends with its end, and is there again when the clock is set back', () => {
  const periods = createPeriods()
  const end = Date.parse('2026-12-01T00:00:00Z')
  assert.is(periods('month', 'UTC', end - 1).end, end)
  assert.is(periods('month', 'UTC', end).start, end)
  assert.is(periods('month', 'UTC', end - hourMs).end, end)
})

test('time zones are known by the names of the IANA alone', () => {
  assert.equal([zoneName('europe/berlin'), zoneName('UTC')], ['Europe/Berlin', 'UTC'])
  for (const wrong of ['', '+02:00', 'Europe/Nowhere', 'x'.repeat(1000), "UTC'; --"])
    assert.is(zoneName(wrong), undefined)
})

test.run()

/** As the table writes it: without seconds where they are 0. */
function time(at: number): string {
  return new Date(at).toISOString().replace(/(?::00)?\.000Z$/, '')
}
