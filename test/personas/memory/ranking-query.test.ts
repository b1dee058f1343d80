import * as assert from 'uvu/assert'
import { languageOf } from '../../../src/personas/memory/language-words.ts'
import { readQuery } from '../../../src/personas/memory/ranking-query.ts'
import { plain, termsOf, wordsOf } from '../../../src/personas/memory/ranking-terms.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('a query for memories')

const questions = {
  en: 'where did we put the spare key',
  de: 'Bei welcher Familie habe ich in Graz gewohnt?',
  fr: 'Quels fruits faut-il éviter pour la petite ?',
  es: '¿Por qué no vendrá mi colega en verano?',
  it: 'Quanto chiede lo zio per dormire alla baita?',
  pt: 'Em que hospital trabalha o meu amigo?',
  nl: 'waar hebben we de sleutel van het huis gelaten',
  pl: 'Jakie drzewa rosną na naszej działce?',
  ru: 'Где мы оставили ключи от погреба?',
  sv: 'var har vi lagt nyckeln till huset',
  tr: 'bizim evin anahtarı nerede ve kim aldı',
  uk: 'де ми залишили ключі від хати?',
  zh: '谁教我中文?',
  ja: '相撲はいつ見に行きますか',
  ko: '민준이가 키우는 동물은 뭐야?',
}

for (const [language, question] of Object.entries(questions))
  test(`knows its language by its function words or its script: ${language}`, () => {
    assert.is(languageOf(question, wordsOf(question).map(plain)), language)
    assert.is(readQuery(question).language, language)
  })

test('leaves out function words of its own language, and those alone', () => {
  const terms = (text: string) => readQuery(text).terms.map(({ term }) => term)
  assert.equal(terms('Was ist am Rucksack kaputt?'), ['rucksack', 'kaputt'])
  assert.equal(terms('where is the die for the war game'), ['die', 'war', 'game'])
  assert.equal(terms('谁教我中文?'), ['教', '谁教', '教我', '中', '我中', '文', '中文'])
  const { terms: functions } = readQuery('where were you')
  assert.ok(functions.length > 0, 'a query of function words alone asks for them')
  assert.ok(functions.every(({ worth }) => worth === 1))
  assert.equal(terms('  …  '), [])
})

test('words of requests weigh less, in every form', () => {
  const worth = (text: string, term: string) => readQuery(text).terms.find((each) => each.term === term)?.worth
  assert.is(worth('explain photosynthesis', 'explain'), 0.25)
  assert.is(worth('explain photosynthesis', 'photosynthesi'), 1)
  assert.is(worth('which numbers are prime', 'number'), 0.25)
  assert.is(worth('Erkläre mir die Gezeiten', 'erklar'), 0.25)
})

test('speaks of the user where it says so, but not in a phrase such as "how do I" or "tell me"', () => {
  for (const text of [
    'where do we live',
    'my dentist',
    'Wo ist mein Rad?',
    'Как зовут моего брата?',
    '我的律师',
    'うちの犬',
  ])
    assert.is(readQuery(text).isPersonal, true, text)
  for (const text of ['how do I centre a div', 'tell me a joke', 'who painted the Mona Lisa', '光合成とは何ですか'])
    assert.is(readQuery(text).isPersonal, false, text)
})

test('is general where it asks the persona about herself, or sets a task about no known thing', () => {
  for (const text of [
    'do you like olives',
    'what is your favourite colour?',
    'write a poem about a ferry',
    'explain how a lathe works',
    'Was ist dein Lieblingskomponist?',
    'Schreib ein Gedicht über einen Kater',
    'Hai paura di volare?',
    'Écris une histoire sur un boulanger',
  ])
    assert.is(readQuery(text).isGeneral, true, text)
  for (const text of [
    'where is my ferry ticket?',
    'when does the ferry go',
    'write an email to the estate agent',
    'do you remember when choir practice is?',
    'Weißt du noch, wann Probe ist?',
    'write a poem for my daughter',
  ])
    assert.is(readQuery(text).isGeneral, false, text)
})

test('a capital inside of it marks a name, but not in German', () => {
  const names = (text: string) => readQuery(text).terms.flatMap(({ term, isName }) => (isName ? [term] : []))
  assert.equal(names('Who painted the Mona Lisa'), ['mona', 'lisa'])
  assert.equal(names('Was ist am Rucksack kaputt?'), [])
})

test('elided words stand apart, in queries and in memories', () => {
  assert.ok(termsOf("l'hôtel d’Annecy").includes('hotel'))
  assert.ok(termsOf('dell’anno').includes('anno'))
  assert.ok(termsOf("don't").includes('dont'))
})

test('no text makes it fail, and it never has more terms than a search may ask for', () => {
  const long = Array.from({ length: 500 }, (_, at) => `word${at}`).join(' ')
  assert.is(readQuery(long).terms.length, 32)
  for (const text of ['', '\u0301', "'", '\ud800', 'ß'.repeat(1000), '\u{1F6A2}'.repeat(100)])
    assert.ok(
      readQuery(text).terms.every(({ term }) => term !== ''),
      JSON.stringify(text),
    )
})

test.run()
