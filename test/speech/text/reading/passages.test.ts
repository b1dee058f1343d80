import * as assert from 'uvu/assert'
import { cleanText, dividePassages, readWritten } from '../../../../speech/text/reading/passages.ts'
import { suite } from '../../../helpers/suite.ts'

const test = suite('SSML, and passages in other languages')

test('SSML: silences, aliases, letters one by one, sounds and speed; other tags go and are counted', () => {
  const { parts, leftOut } = cleanText(
    `<speak>Hello<break time="500ms"/> <sub alias="World Wide Web">WWW</sub>, <say-as interpret-as="characters">abc</say-as>.
    <prosody rate="slow">Slowly</prosody> <phoneme alphabet="ipa" ph="təˈmeɪtoʊ">tomato</phoneme>
    <emphasis>now</emphasis> <emphasis>here</emphasis> <audio src="x.wav"/><say-as interpret-as="ordinal">2</say-as></speak>`,
  )
  assert.equal(
    parts.map(({ text, pause, rate }) => [text, pause, rate]),
    [
      ['Hello', 0.5, undefined],
      ['World Wide Web, A B C.', undefined, undefined],
      ['Slowly', undefined, 0.75],
      ['tomato now here 2nd', undefined, undefined],
    ],
  )
  assert.equal(parts[3]!.phones, { tomato: 't ah0 m ey1 t ow0' })
  assert.equal(leftOut, ['<emphasis> (2)', '<audio>'])
})

test('silences are bounded, each and together; HTML is no SSML', () => {
  const { parts } = cleanText('<break time="999s"/>a'.repeat(100))
  assert.ok(parts.every(({ pause = 0 }) => pause <= 10))
  assert.ok(parts.reduce((sum, { pause = 0 }) => sum + pause, 0) <= 120)
  assert.equal(cleanText('H<sub>2</sub>O <b>is</b> water').parts, [{ text: 'H2O is water' }])
})

test('hostile SSML takes time by its length alone, and no entity grows', () => {
  for (const text of [
    '<prosody rate="fast">'.repeat(5000),
    '<'.repeat(100_000),
    '<break time="'.repeat(8000),
    `<!DOCTYPE a [${'<!ENTITY a "&b;&b;">'.repeat(4000)}]><speak>&a;</speak>`,
    `${'<phoneme ph="x">'.repeat(5000)}a`,
  ]) {
    const before = process.cpuUsage()
    const { parts } = cleanText(text)
    const { user, system } = process.cpuUsage(before)
    assert.ok(user + system < 3_000_000)
    assert.ok(parts.reduce((sum, part) => sum + part.text.length, 0) <= text.length)
  }
})

const english = 'This is a sentence that is long enough to be seen as an English one, I think, and it goes on.'
const french = 'Ceci est une phrase assez longue pour être reconnue comme du français, je crois, et elle continue.'

test('a text is divided where its language changes; a heading goes with what follows', async () => {
  const passages = await dividePassages([{ text: `${english} ${english}\nChapitre deux\n${french}\n${english}` }])
  assert.equal(
    passages.map(({ language, paragraph }) => [language, paragraph]),
    [
      ['English', 1],
      ['French', 2],
      ['English', 4],
    ],
  )
  assert.is(passages[1]!.text, `Chapitre deux\n${french}`)
  assert.equal((await dividePassages([{ text: `${english} ${french}` }], 'English')).length, 1)
})

test('a few foreign words, names and short sentences are no change', async () => {
  for (const text of [
    `${english} C'est la vie, as they say. ${english}`,
    'Johann Sebastian Bach was born in Eisenach, and he worked in Weimar, Köthen and Leipzig for most of his life.',
  ])
    assert.equal(
      (await dividePassages([{ text }])).map(({ language }) => language),
      ['English'],
    )
})

test('the words of a text in two languages are each language’s own', async () => {
  const { text } = await readWritten(`${english} It has 21 words.\n${french} Elle a 21 mots.`, {})
  assert.match(text, /twenty-one words\.\nCeci .*vingt et un mots/)
})

test.run()
