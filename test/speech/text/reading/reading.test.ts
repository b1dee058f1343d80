// Some with --all only: a whole sample.
import * as assert from 'uvu/assert'
import { parseLexicon } from '../../../../speech/text/reading/lexicon.ts'
import { readAloud } from '../../../../speech/text/reading/reading.ts'
import { fixture } from '../../../helpers/fixture.ts'
import { suite } from '../../../helpers/suite.ts'

const test = suite('texts as they are read aloud')

/** As it sounds: capitals, hyphens and the last dot are silent. */
const sound = (text: string) =>
  text
    .toLowerCase()
    .replace(/[-\s]+/g, ' ')
    .replace(/\s+([.,!?])/g, '$1')
    .replace(/\.$/, '')
    .trim()

for (const language of ['English', 'German', 'French', 'Spanish', 'Italian', 'Portuguese', 'Dutch'])
  test(`${language}: each line of the table is read as it says`, () => {
    const kinds = fixture<Record<string, readonly (readonly [string, string])[]>>(
      `readings/${language.toLowerCase()}.json`,
    )
    const rows = Object.values(kinds).flat()
    assert.ok(rows.length >= (language === 'English' ? 400 : 40))
    for (const [written, spoken] of rows)
      assert.is(sound(readAloud(written, language).text), sound(spoken), `“${written}”`)
  })

test('a language without rules stays as it is', () => {
  assert.is(readAloud('5 км, 10%', 'Russian').text, '5 км, 10%')
})

test('the dot of an abbreviation that ends a sentence is heard', () => {
  assert.is(readAloud('We met at 5 p.m. Then we left.', 'English').text, 'We met at five P M. Then we left.')
})

test('each written word has its spoken words, and together they are all of them', () => {
  const text = '“$5 million,” he said (at 9 a.m.). The end\nof 10–20 km.'
  const { text: spoken, words } = readAloud(text, 'English')
  assert.equal(words.map((word) => word.text).join(' '), text.replace('\n', ' '))
  assert.is(
    words.reduce((sum, word) => sum + word.spoken, 0),
    spoken.split(/\s+/).length,
  )
  assert.equal(words[0], { text: '“$5 million,”', spoken: 3 })
})

const lexicon = parseLexicon(
  '# names\nGIF = jif\naichat = eye chat\nnew york = Gotham\nkyutai = /kjuˈtaɪ/\nloop = pool\npool = loop',
)

test('words of a lexicon are said as it has them, once', () => {
  const { text, phones } = readAloud(
    'A GIF of Aichat in New York by Kyutai: a loop, a pool, gif, loops.',
    'English',
    lexicon,
  )
  assert.is(text, 'A jif of eye chat in Gotham by Kyutai: a pool, a loop, gif, loops.')
  assert.equal(phones, { kyutai: 'k y uw0 t ay1' })
})

test('an invalid line of a lexicon is named', () => {
  for (const line of ['no equals sign', '= words', 'word = /qqq!/', 'two words = /t uw1/', `${'x'.repeat(500)} = y`])
    assert.throws(() => parseLexicon(`a = b\n${line}`), /Invalid lexicon: line 2 /)
})

test.whole('long texts of one pattern take time by their length alone', () => {
  for (const piece of [
    '#tag ',
    '#',
    '1',
    '1,',
    '1.',
    '1/',
    'a/',
    'A.',
    '$1',
    '@a',
    'x²',
    'a@',
    '1 1',
    '½',
    '+1 ',
    '/a',
    "1'",
    'z. B. ',
  ])
    for (const language of ['English', 'German']) {
      const before = process.cpuUsage()
      readAloud(piece.repeat(20_000 / piece.length), language)
      const { user, system } = process.cpuUsage(before)
      assert.ok(user + system < 4_000_000, `${piece} ${language}`)
    }
})

test.whole('a sentence of a million characters is read whole', () => {
  const { text, words } = readAloud('#tag '.repeat(200_000).trim(), 'English')
  assert.is(words.length, 200_000)
  assert.match(text.slice(0, 40), /tag/)
})

test.run()
