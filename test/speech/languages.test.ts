import * as assert from 'uvu/assert'
import { detectLanguage, findLanguage, languageNames } from '../../speech/languages.ts'
import { suite } from '../suite.ts'

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
  test(`${language} is told as ${language}`, () => {
    for (const text of texts) assert.is(detectLanguage(text), language, text)
  })

test('other scripts are told by name, and not as English', () => {
  assert.is(detectLanguage('مرحبا بالعالم'), 'Arabic')
  assert.is(detectLanguage('नमस्ते दुनिया'), 'Hindi')
})

test('languages are found by name and code in any case', () => {
  assert.is(languageNames.length, 10)
  for (const name of ['English', 'english', 'EN', 'en-GB', 'eng']) assert.is(findLanguage(name), 'English')
  assert.is(findLanguage('zh_CN'), 'Chinese')
  assert.is(findLanguage('Klingon'), undefined)
})

test.run()
