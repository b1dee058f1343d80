import * as assert from 'uvu/assert'
import { readQuery } from '../../../src/personas/memory/ranking-query.ts'
import {
  nearnessInTime,
  timeFromText,
  timeFromWords,
  timesIn,
  timesOfQuery,
} from '../../../src/personas/memory/time-words.ts'
import { fixture } from '../../helpers/fixture.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('words for times')

/** A Thursday. */
const now = Date.parse('2026-05-14T10:00:00Z')

/** `2026-05-04..2026-05-11`, the second day not included; several with `|` between. */
function said(text: string): string {
  const day = (time: number) => new Date(time).toISOString().slice(0, 10)
  return timesOfQuery(text, now)
    .map(({ spans }) => spans.map(({ from, to }) => `${day(from)}..${day(to)}`).join('|'))
    .join(' ')
}

/** Per language: yesterday, last week, two weeks ago, in March, last year. */
const questions = fixture<Readonly<Record<string, readonly string[]>>>('personas/questions-of-times.json')

const spans = [
  '2026-05-13..2026-05-14',
  '2026-05-04..2026-05-11',
  '2026-04-27..2026-05-04',
  '2026-03-01..2026-04-01',
  '2025-01-01..2026-01-01',
]

for (const [language, texts] of Object.entries(questions))
  test(`are understood in a question: ${language}`, () => {
    assert.equal(texts.map(said), spans)
  })

test('are dates, years and bounds too', () => {
  for (const [text, expected] of [
    ['what happened in 2023', '2023-01-01..2024-01-01'],
    ['our trip on 8 May 2023', '2023-05-08..2023-05-09'],
    ['May 8th, 2023', '2023-05-08..2023-05-09'],
    ['am 8.5.2023 im Garten', '2023-05-08..2023-05-09'],
    ['lunch on 2024-02-29', '2024-02-29..2024-03-01'],
    ['2023年3月8日的午饭', '2023-03-08..2023-03-09'],
    ['what do I have on Friday', '2026-05-08..2026-05-09|2026-05-15..2026-05-16'],
    ['what did I eat last Friday', '2026-05-08..2026-05-09'],
    ['in the last three months', '2026-02-14..2026-05-14'],
    ['what changed since March', '2026-03-01..2026-05-15'],
    ['where did I live before 2023', '1970-01-01..2023-01-01'],
    ['what is planned for tomorrow', '2026-05-15..2026-05-16'],
    ['our last weekend', '2026-05-09..2026-05-11'],
    ['yesterday or in April', '2026-04-01..2026-05-01 2026-05-13..2026-05-14'],
  ] as const)
    assert.is(said(text), expected, text)
})

test('are seasons and feasts, which return each year', () => {
  for (const [text, expected] of [
    ['who came at Christmas?', '2025-12-20..2026-01-01'],
    ['where were we last summer', '2025-06-01..2025-09-01'],
    ['what did we plant last spring', '2025-03-01..2025-06-01'],
    ['what did we plant in spring', '2026-03-01..2026-06-01'],
    ['who visited us at Easter', '2026-04-02..2026-04-07'],
    ['plans for next Easter', '2027-03-25..2027-03-30'],
    ['where did we sail at the weekend', '2026-05-09..2026-05-11|2026-05-16..2026-05-18'],
    ['did I fall last week', '2026-05-04..2026-05-11'],
    ['Was haben wir an Weihnachten gegessen?', '2025-12-20..2026-01-01'],
    ["Où étions-nous l'été dernier ?", '2025-06-01..2025-09-01'],
    ['Comment a été mon voyage ?', ''],
    ['¿Quién vino en Navidad?', '2025-12-20..2026-01-01'],
    ["dove siamo andati l'estate scorsa", '2025-06-01..2025-09-01'],
    ['gdzie byliśmy zeszłej zimy', '2025-12-01..2026-03-01'],
    ['где мы были прошлым летом', '2025-06-01..2025-09-01'],
    ['geçen yaz neredeydik', '2025-06-01..2025-09-01'],
  ] as const)
    assert.is(said(text), expected, text)
  for (const [year, sunday] of [
    [2024, '2024-03-31'],
    [2025, '2025-04-20'],
    [2038, '2038-04-25'],
  ] as const) {
    const [time] = timesOfQuery('at Easter', Date.UTC(year, 5, 1))
    assert.is(new Date(time!.spans[0]!.from + 3 * 86_400_000).toISOString().slice(0, 10), sunday)
  }
})

test('are no times where they mean something else', () => {
  for (const text of [
    'may I have the bill',
    'they march to the sun',
    'which bin is it every monday',
    'Was ist hier los',
    'was esse ich jeden Morgen',
    'how many days has a week',
    'what is my cat afraid of',
    'lunch on 2023-02-30 or 2023-13-01x',
    'invoice 20230508',
    'chapters 2023-00 and 2023-13',
    '几月',
    '\u0301',
    '',
  ])
    assert.is(said(text).replace(/2023-01-01\.\.2024-01-01 ?/g, ''), '', text)
})

test('alone are a time in any language; whatever else stands there is none', () => {
  const day = (text: string) => {
    const time = timeFromText(text, now)
    return time === undefined ? undefined : new Date(time).toISOString().slice(0, 10)
  }
  for (const [text, expected] of [
    ['yesterday', '2026-05-13'],
    ['Letzte Woche', '2026-05-04'],
    ['hace dos meses', '2026-03-14'],
    ['hier', '2026-05-13'],
    ['先週', '2026-05-04'],
    ['March', '2026-03-01'],
    ['march 2024', '2024-03-01'],
    ['2024', '2024-01-01'],
    ['2024-05', '2024-05-01'],
    ['2024-05-08', '2024-05-08'],
    ['7d', '2026-05-07'],
    ['friday', '2026-05-08'],
    ['0', '1970-01-01'],
    ['1715000000000', '2024-05-06'],
  ] as const)
    assert.is(day(text), expected, text)
  const nonsense = [
    'soon',
    '',
    ' ',
    '\u0301',
    '275761-01-01',
    '+275761-01-01',
    'last week tea',
    '2024-13-45',
    '2024-02-30',
    '2023-02-29T10:00',
    '9'.repeat(40),
    'x'.repeat(1e6),
    'last '.repeat(1e5),
  ]
  for (const text of nonsense) assert.is(timeFromText(text, now), undefined, text.slice(0, 40))
  assert.is(timeFromWords('\u0301', now), undefined)
  assert.is(timeFromText('275761 years ago', now), undefined)
})

test('are read at the ends of time as well, and in long texts quickly', () => {
  for (const clock of [0, 253_402_300_799_999, 8.64e15])
    for (const text of ['last week', 'in March', '999 years ago', 'on Friday', 'since 2023'])
      for (const { spans } of timesIn(`what was ${text}`, clock))
        for (const { from, to } of spans) assert.ok(!(from > to), `${text} at ${clock}`)
  const begun = performance.now()
  for (const text of [
    'last '.repeat(200_000),
    'the '.repeat(200_000),
    '2024-01-'.repeat(100_000),
    '一'.repeat(500_000),
  ])
    timesOfQuery(text, now)
  assert.ok(performance.now() - begun < 5_000)
})

test('of a memory are that of its words, that in which it holds, and those that it names', () => {
  const times = timesOfQuery('what did I do last week', now)
  const at = (day: string) => Date.parse(`${day}T12:00:00Z`)
  const near = (content: string, day: string, metadata = {}) =>
    nearnessInTime({ content, timestamp: at(day), metadata }, times)
  assert.is(near('tea with Grace', '2026-05-06'), 1)
  assert.ok(near('tea with Grace', '2026-05-12') > 0 && near('tea with Grace', '2026-05-12') < 0.5)
  assert.is(near('tea with Grace', '2026-01-12'), 0)
  assert.is(near('tea with Grace three days ago', '2026-05-12'), 1)
  assert.is(near('tea with Grace three weeks ago', '2026-06-30'), 0)
  assert.is(near('der Zahnarzt ist nächste Woche', '2026-04-30'), 1)
  assert.is(near('I live in Graz', '2020-01-01', { valid_from: at('2019-01-01') }), 1)
  assert.is(near('I live in Graz', '2020-01-01', { valid_from: at('2019-01-01'), valid_to: at('2021-01-01') }), 0)
})

test('said from the view of now weigh little as words, and a query may hold nothing else', () => {
  const worth = (text: string, term: string) =>
    readQuery(text, undefined, now).terms.find((each) => each.term === term)?.worth
  assert.equal([worth('the garden last week', 'week'), worth('the garden last week', 'garden')], [0.25, 1])
  assert.is(worth('the garden in March', 'march'), 1)
  assert.is(readQuery('the garden last week').times.length, 0)
  const isOnlyTime = (text: string) => readQuery(text, undefined, now).isOnlyTime
  assert.equal(['what did I do last week', 'in March', 'the garden last week', 'what did I do'].map(isOnlyTime), [
    true,
    true,
    false,
    false,
  ])
})

test.run()
