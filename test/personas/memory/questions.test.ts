import * as assert from 'uvu/assert'
import { isOnlyQuestions } from '../../../src/personas/memory/questions.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('a turn that only asks')

const asks = [
  'Where is my locker?',
  'Where is my locker?? 🤔',
  'Hi! Where is my locker? Thanks!',
  'Where is Dr. Miller’s office, and is it 3.30 or 4?',
  'When I am in Paris, where should I eat?',
  'Which is mine, the red one or the blue one?',
  'where did i park',
  'what time is my flight',
  'whats my locker number?',
  'who’s my dentist? i forgot, what’s her name?',
  'from whom did we buy the piano',
  'wo habe ich geparkt',
  'von wem haben wir das klavier',
  'con chi sono andata a Bari',
  'с кем я играю в шахматы',
  'Wie heißt meine Tochter?',
  'où est mon vélo',
  'Quelle est mon adresse',
  '¿Dónde trabaja mi hermano',
  'cuál es mi talla',
  "dov'è la mia bici?",
  'onde fica meu armário',
  'waar is mijn kluisje',
  'gdzie jest moja szafka',
  'где мой шкафчик',
  'де мій ключ',
  'var är min nyckel',
  'dolabım nerede',
  'Alerjim var mı',
  '我的医生姓什么？',
  '我的钥匙在哪里',
  'ロッカーは何番ですか。',
  '鍵はどこ',
  '내 열쇠는 어디야',
  'أين خزانتي؟',
  'मेरी चाबी कहाँ है',
  'Πού είναι το κλειδί μου;',
  'Որտե՞ղ է իմ բանալին',
]

const states = [
  'My locker is 217.',
  'I live in Graz. Where is the nearest pool?',
  'Where is the nearest pool? I live in Graz.',
  "I'm allergic to nuts, what can I cook?",
  'My sister moved to Porto, did I tell you?',
  'Ich vertrage keine Nüsse, was kann ich kochen?',
  'Je suis végétarien, que puis-je cuisiner ?',
  'Soy alérgico a las nueces, ¿qué puedo comer?',
  '我对花生过敏，我能吃什么？',
  'ナッツアレルギーです、何を食べられますか？',
  'when I was young I lived in Oslo',
  'where I live it rains a lot',
  'what I like most is tea',
  'From what I know it rains a lot there',
  'Was ich mag ist Tee',
  'Wo ich wohne regnet es viel',
  "quand j'étais jeune je vivais à Lyon",
  'cuando era joven vivía en Lima',
  'When I moved; I left the piano behind',
  'do not disturb me before nine',
  '학교에 가요',
  '',
]

for (const text of asks) test(`asks: ${text}`, () => assert.is(isOnlyQuestions(text), true))
for (const text of states) test(`states something: ${text}`, () => assert.is(isOnlyQuestions(text), false))

test('is read in time, however long', () => {
  for (const piece of ['?', 'a?', '. ', ', ', 'Dr. ', '¿', '\n', 'what is '])
    assert.type(isOnlyQuestions(piece.repeat(20_000)), 'boolean')
})

test.run()
