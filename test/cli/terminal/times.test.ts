import * as assert from 'uvu/assert'
import { localTimeFromText } from '../../../src/cli/terminal/read-time.ts'
import { fullTime, momentText, timeText } from '../../../src/cli/terminal/times.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('times at a terminal')

const said = { globals: () => ({ color: 'auto', input: true }) as const }
const inFull = { globals: () => ({ color: 'auto', input: true, plain: true }) as const }

/** A Saturday in Paris, where clocks are an hour ahead of UTC. */
const now = Date.UTC(2026, 10, 28, 13, 30)

/** Does something in a time zone. */
async function inZone(zone: string, work: () => void | Promise<void>): Promise<void> {
  const { TZ } = process.env
  process.env['TZ'] = zone
  try {
    await work()
  } finally {
    if (TZ === undefined) delete process.env['TZ']
    else process.env['TZ'] = TZ
  }
}

test('they are told as people say them, by the clock of the machine', () =>
  inZone('Europe/Paris', () => {
    const cases = [
      [Date.UTC(2026, 10, 28, 13, 5), 'today 14:05'],
      [Date.UTC(2026, 10, 27, 23, 5), 'today 0:05'],
      [Date.UTC(2026, 10, 27, 22, 55), 'yesterday 23:55'],
      [Date.UTC(2026, 10, 27, 8, 12), 'yesterday 9:12'],
      [Date.UTC(2026, 10, 28, 23, 5), 'tomorrow 0:05'],
      [Date.UTC(2026, 10, 23, 13, 5), 'Mon 14:05'],
      [Date.UTC(2026, 10, 22, 13, 5), 'Sun 14:05'],
      [Date.UTC(2026, 10, 21, 13, 5), '21 Nov'],
      [Date.UTC(2026, 2, 3, 13, 5), '3 Mar'],
      [Date.UTC(2025, 2, 3, 13, 5), '3 Mar 2025'],
      [Date.UTC(2026, 11, 3, 13, 5), '3 Dec'],
    ] as const
    for (const [time, text] of cases) assert.is(timeText(said, time, now), text)
    assert.is(momentText(said, Date.UTC(2025, 2, 3, 13, 5), { now }), '3 Mar 2025 14:05')
    assert.is(momentText(said, now, { now, seconds: true }), 'today 14:30:00')
  }))

test('--plain tells them in full with their zone', async () => {
  const time = Date.UTC(2026, 10, 28, 13, 5)
  await inZone('Europe/Paris', () => assert.is(timeText(inFull, time, now), '2026-11-28T14:05+01:00'))
  await inZone('Asia/Kolkata', () => assert.is(fullTime(time), '2026-11-28T18:35+05:30'))
  await inZone('America/St_Johns', () => assert.is(fullTime(time, true), '2026-11-28T09:35:00-03:30'))
  await inZone('UTC', () => assert.is(fullTime(time), '2026-11-28T13:05+00:00'))
})

test('a day that is typed begins at local midnight, also where the clocks change, and a zone stays as it is named', () =>
  inZone('Europe/Paris', () => {
    const cases = [
      ['2026-03-01', Date.UTC(2026, 1, 28, 23)],
      ['2026-03-29', Date.UTC(2026, 2, 28, 23)],
      ['2026-03-30', Date.UTC(2026, 2, 29, 22)],
      ['2026-03-01T10:00', Date.UTC(2026, 2, 1, 9)],
      ['2026-03-01T10:00Z', Date.UTC(2026, 2, 1, 10)],
      ['2026-03-01T10:00+05:00', Date.UTC(2026, 2, 1, 5)],
      ['yesterday', Date.UTC(2026, 10, 26, 23)],
      ['2025', Date.UTC(2024, 11, 31, 23)],
      ['7d', now - 7 * 86_400_000],
      ['1700000000000', 1_700_000_000_000],
    ] as const
    for (const [text, time] of cases) assert.is(localTimeFromText(text, now), time, text)
    // It is 0:30 on Sunday already.
    assert.is(localTimeFromText('today', Date.UTC(2026, 10, 28, 23, 30)), Date.UTC(2026, 10, 28, 23))
    for (const text of ['2024-02-30', 'someday', '']) assert.is(localTimeFromText(text, now), undefined)
  }))

test('a list shows a session by the local clock, in full with --plain, and as a number with --json', () =>
  inZone('Asia/Tokyo', async () => {
    const home = openFastHome()
    await home.aichat(['persona', 'create', '--name', 'Ada', '-m', 'm'])
    await home.aichat(['persona', 'memory', 'add', 'Ada', 'tea', '--timestamp', '2024-05-08T07:00'])
    const list = async (...words: readonly string[]) =>
      (await home.aichat(['persona', 'memory', 'list', 'Ada', ...words])).stdout
    assert.match(await list(), / 8 May 2024 /)
    assert.match(await list('--plain'), /\t2024-05-08T07:00\+09:00\t/)
    assert.is(JSON.parse(await list('--json')).memories[0].timestamp, Date.UTC(2024, 4, 7, 22))
    assert.match(await list('--after', '2024-05-08'), /tea/)
    assert.is(await list('--after', '2024-05-09'), '')
    home.remove()
  }))

test.run()
