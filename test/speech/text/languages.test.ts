import * as assert from 'uvu/assert'
import { detectLanguage, findLanguage, languageNames } from '../../../speech/text/languages.ts'
import { hardEnglish, heldOut, short } from '../../helpers/speech/language-samples.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('the language of a text')

const samples: Readonly<Record<string, readonly string[]>> = {
  English: [
    'Hello',
    'Test',
    '12345',
    'Die hard',
    'No problem, amigo',
    'La La Land',
    'Los Angeles',
    'O Canada',
    'A la carte',
    'Ask for Señor Nuñez at the café',
    'Come on in',
    'I am Sam',
    'Peter Piper picked a peck of pickled peppers',
    'My friend 田中 lives in Tokyo',
    'The word Привет means hello in Russian',
    'The quick brown fox jumps over the lazy dog.',
  ],
  Chinese: ['你好，世界', '今天天气很好，我们去 Berlin 吧'],
  Japanese: ['こんにちは世界', '東京都に住んでいます', 'カタカナ'],
  Korean: ['안녕하세요', '오늘은 AI 이야기'],
  Russian: ['Привет, как дела?'],
  German: ['Guten Morgen, wie geht es dir?', 'Das ist ein Test.', 'Ich bin ein Berliner'],
  French: ['Bonjour tout le monde', 'Je ne sais pas ce que c’est'],
  Spanish: ['Hola, ¿cómo estás?', 'Esto es una prueba de voz'],
  Italian: ['Ciao, come stai?', 'Questa è una prova'],
  Portuguese: ['Olá, tudo bem?', 'Isto não é um teste'],
}
for (const [language, texts] of Object.entries(samples))
  test(`${language} is told as ${language}`, async () => {
    for (const text of texts) assert.is(await detectLanguage(text), language, text)
  })

// eld/small with our rules was chosen among others. Percent fitted, held out, of one to three words, of hard English: with our
// rules it has 99.5, 100, 89 and 100, alone 97, 96.5, 73 and 68; fasttext.wasm.js, whose model is CC-BY-SA, 95.5, 96.5, 84 and
// 82; tinyld/heavy 93, 89.5, 68 and 54; cld3-asm 89.5, 85, 42 and 28; lande 83.5, 85.5, 48 and 42; franc 60.5, 52.5, 20 and 18.
test('of 200 sentences of 20 languages, full of names of other languages, 95 % are told by name', async () => {
  const told = await Promise.all(
    Object.entries(heldOut).flatMap(([language, texts]) =>
      texts.map(async (text) => ({ text, language, found: await detectLanguage(text) })),
    ),
  )
  assert.is(told.length, 200)
  const wrong = told.filter(({ language, found }) => language !== found)
  assert.ok(wrong.length <= 10, JSON.stringify(wrong))
  // This decides whether a voice may speak.
  assert.equal(
    wrong.filter(({ language, found }) => language === 'English' || found === 'English'),
    [],
  )
})

test('English full of foreign names, and short texts that may be anybody’s, are English', async () => {
  for (const text of hardEnglish) assert.is(await detectLanguage(text), 'English', text)
  const told = await Promise.all(short['English']!.map((text) => detectLanguage(text)))
  assert.ok(told.filter((found) => found !== 'English').length <= 3, told.join())
})

test('other scripts are told by name, and not as English', async () => {
  assert.is(await detectLanguage('مرحبا بالعالم'), 'Arabic')
  assert.is(await detectLanguage('नमस्ते दुनिया'), 'Hindi')
  assert.is(await detectLanguage('გამარჯობა მსოფლიო'), 'Georgian')
  assert.is(await detectLanguage('ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ'), 'an unknown language')
})

test('languages are found by name and code in any case', () => {
  assert.is(languageNames.length, 10)
  for (const name of ['English', 'english', 'EN', 'en-GB', 'eng']) assert.is(findLanguage(name), 'English')
  assert.equal([findLanguage('zh_CN'), findLanguage('Klingon')], ['Chinese', undefined])
})

test.run()
