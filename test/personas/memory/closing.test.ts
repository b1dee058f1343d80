import * as assert from 'uvu/assert'
import { newsIn } from '../../../src/personas/memory/closing.ts'
import { readScenes, type Scene } from '../../bench/memory-parts/scenes.ts'
import { suite } from '../../helpers/suite.ts'

/** Which statements end earlier ones, and which do not: pairs of an earlier and a later one. */
const test = suite('statements that end earlier ones')

const ends: readonly (readonly [earlier: string, later: string])[] = [
  ['We are buying the flat in Ghent!', 'the flat is off, they sold to someone else'],
  ['we signed for the house on Elm Street', 'the deal fell through'],
  ['I work as a nurse at St. Anna', 'since Monday I am at the hospice De Linde'],
  ['I work at Lidl', 'started at the town hall on Monday, Lidl is history'],
  ['Allergic to penicillin', 'the test says it is no allergy after all'],
  ['Katrien and I have been together four years', 'we split up in September'],
  ['I weigh 82', '79 now'],
  ['I weigh 82', '77.5 this morning'],
  ['I am 41', 'I turned 42 yesterday'],
  ['I live in Ghent', 'we moved to Bruges last month'],
  ['The boiler code is 4471', 'The boiler code is now 9920'],
  ['The party is on Saturday', 'We moved the party from Saturday to Sunday'],
  ['I drink two cups of coffee a day', "I don't drink coffee any more"],
  ['I am vegetarian', 'I eat meat again'],
  ['I am a member of the choir', 'I am no longer a member of the choir'],
  ['My number plate is AB-CD 12', 'My new number plate is KL-OP 90'],
  ['We have booked the trip to Rome', 'the trip to Rome is cancelled'],
  ['My car is a red Volvo', 'I sold the Volvo'],
  ['I study law in Leiden', 'I dropped out in June'],
  ['They suspect diabetes; the test is next week', 'the test came back negative'],
  ['I am engaged to Tom', 'We broke up'],
  ['Next month I fly to Oslo', 'I had to cancel the flight to Oslo'],
  ['I smoke a pack a day', 'I gave up smoking'],
  ['I play tennis on Tuesdays', "I don't play tennis any more"],
  ['My sister lives in Porto', 'My sister moved to Faro'],
  ['My dose is 20 mg', 'My dose is 40 mg now'],
  ['I rent a flat at Mill Lane 3', 'Since May we live at Harbour Road 9'],
  ['Ich arbeite bei Siemens', 'Seit Montag bin ich bei Bosch'],
  ['Wir kaufen das Haus in Ulm', 'Der Hauskauf ist geplatzt'],
  ['Ich wohne in Kiel', 'Wir sind nach Bremen umgezogen'],
  ['Ich wiege 90 Kilo', 'heute früh 88'],
  ['Je travaille chez Renault', 'J’ai changé de travail, je suis chez Airbus'],
  ['J’habite à Lyon', 'nous avons déménagé à Nantes'],
  ['Vivo en Sevilla', 'Nos mudamos a Cádiz'],
  ['Trabajo en Correos', 'Cambié de trabajo, ahora trabajo en Renfe'],
  ['Abito a Torino', 'Mi sono trasferito a Bari'],
  ['Moro em Lisboa', 'Mudei-me para o Porto'],
  ['Ik woon in Gent', 'Ik ben verhuisd naar Brugge'],
  ['Mieszkam w Łodzi', 'Przeprowadziłam się do Gdyni'],
  ['İzmir’de oturuyorum', 'Ankara’ya taşındım'],
  ['Я живу в Перми', 'Я переехала в Казань'],
  ['Я живу у Львові', 'Я переїхала до Києва'],
  ['أعيش في القاهرة', 'انتقلت إلى الإسكندرية'],
  ['मैं दिल्ली में रहता हूँ', 'मैं मुंबई शिफ्ट हो गया'],
  ['大阪に住んでいます', '東京に引っ越しました'],
  ['我住在上海', '我搬到北京了'],
  ['Je sors avec Paul depuis deux ans, nous sommes en couple', 'Paul et moi avons rompu'],
  ['Jestem uczulona na orzechy', 'to jednak nie jest alergia'],
  ['我对花生过敏', '检查说不是过敏'],
  ['I take 20 milligrams of citalopram', 'The doctor put my citalopram down to 10 milligrams'],
  ['Płacę 2100 złotych czynszu', 'Od marca płacę 2450 złotych czynszu'],
  ['My sister Ines is pregnant', 'Little Mattia was born last night, mother and baby are fine'],
  ['Our dog Bruno sleeps in the hall', 'Bruno died on Sunday'],
  ['I drive a red Corsa', 'Picked up the electric Zoe, the old banger went to the scrapyard'],
  ['My sister Solveig wants to sell her Volvo', 'Solveig changed her mind, she keeps the Volvo'],
  ['Dario and I are getting married in autumn', 'I gave him back the ring, it is over'],
  ['Vivo en Zaragoza', 'Ya estoy instalada sola en Cádiz'],
]

const leaves: readonly (readonly [earlier: string, later: string])[] = [
  ['Meeting 3 with the sales team about the budget', 'Meeting 4 with the sales team about the budget'],
  ['I ordered new ink for the pen', 'I gave him back the ring, it is over'],
  ["My dog is called Waffles, she's a beagle", 'Next door’s dog got run over on Monday'],
  ['Me and Tom are engaged!', 'Tom’s parents are splitting up after 40 years'],
  ['Estoy embarazada de cuatro meses', 'Mi cuñada ya dio a luz, ¡gemelos!'],
  ['We are flying to Crete in June', 'We cancelled the landline'],
  ['I live in Ghent', 'My sister moved to Rome'],
  ['I live in Ghent', 'We might move to Rome'],
  ['I live in Ghent', 'If I moved to Rome, I would miss you'],
  ['I work at Lidl', 'Tom got fired'],
  ['I work at Lidl', 'My son started at Lidl'],
  ['Katrien and I have been together four years', 'Tom and Anna split up'],
  ['Katrien and I have been together four years', 'Tom got divorced'],
  ['I am allergic to nuts', 'My daughter is not allergic to nuts'],
  ['I weigh 82', 'I ran 10 km this morning'],
  ['I weigh 82', 'I am 20 minutes late'],
  ['I am 41', 'I am 10 minutes late'],
  ['The boiler code is 4471', 'The code of the shed is 5083'],
  ['We are buying the flat in Ghent', 'The trip to Rome is off'],
  ['We ate at Roma on Friday', 'I no longer eat gluten'],
  ['I live in Ghent with my wife', 'I live on the second floor'],
  ['My car is a red Volvo', 'My neighbour sold his car'],
  ["I don't eat gluten", 'I eat meat again'],
  ['I work at the museum', 'I work on my thesis now'],
  ['My dog is called Rex', 'My cat is called Tom now'],
  ['I play tennis on Tuesdays', 'My brother does not play tennis any more'],
  ['The light in the kitchen is broken', 'The light is off'],
  ['We are buying a flat', 'The oven is off'],
  ['Ilyas starts school in September', "Ilyas can't have gluten"],
  ['I teach chemistry at the evening school', 'I am no longer a member of the choir'],
  ['My blood pressure was 128 over 82', 'I am 41'],
  ['I am diabetic', 'The covid test came back negative'],
  ['I have a meeting at 10', 'I have a meeting at 11'],
  ['Our meeting room is the blue one', 'My meeting was moved to Friday'],
  ['We signed for the house on Elm Street', 'Our neighbours sold their house'],
  ['I take the bus to work', 'We moved the sofa into the kitchen'],
  ['My rent is 900 euros', 'My salary is 3000 euros'],
  ['Ich arbeite bei Siemens', 'Mein Bruder arbeitet jetzt bei Bosch'],
  ['Ich wohne in Kiel', 'Meine Tante ist nach Bremen umgezogen'],
  ['Vivo en Sevilla', 'Mi hermano se mudó a Cádiz'],
  ['Я живу в Перми', 'Мой брат переехал в Казань'],
  ['我住在上海', '我妹妹搬到北京了'],
  ['I am a vegetarian', 'We no longer live in Ghent'],
]

const dayMs = 86_400_000

function entry(content: string, timestamp: number, metadata = {}) {
  return { id: content, user_id: 'ada', persona_id: 'p', content, timestamp, importance_score: 0.5, metadata }
}

function isEnded(earlier: string, later: string, metadata = {}): boolean {
  const older = { entry: entry(earlier, dayMs, metadata) }
  return (newsIn(entry(later, 20 * dayMs))?.ended([older]).length ?? 0) > 0
}

for (const [earlier, later] of ends) test(`"${later}" ends "${earlier}"`, () => assert.ok(isEnded(earlier, later)))
for (const [earlier, later] of leaves)
  test(`"${later}" leaves "${earlier}"`, () => assert.not.ok(isEnded(earlier, later)))

test("a pinned memory, another speaker's words and an answer are ended by nothing", () => {
  for (const metadata of [{ pinned: true }, { role: 'assistant' }, { keys: ['home'] }])
    assert.not.ok(isEnded('I live in Ghent', 'we moved to Bruges', metadata), JSON.stringify(metadata))
  const news = newsIn(entry('we moved to Bruges', 20 * dayMs, { speaker: 'ada' }))!
  assert.equal(news.ended([{ entry: entry('I live in Ghent', dayMs, { speaker: 'bob' }) }]), [])
})

test('questions, answers and long texts are no news', () => {
  assert.is(newsIn(entry('Did we move to Bruges?', 1, { source: 'chat' })), undefined)
  assert.is(newsIn(entry('You moved to Bruges', 1, { role: 'assistant' })), undefined)
  assert.is(newsIn(entry(`We moved to Bruges. ${'And so on. '.repeat(100)}`, 1)), undefined)
})

test('none of eighty statements that look like a change ends the one before', () => {
  const { scenes } = readScenes<{ scenes: readonly Scene[] }>('keeps')
  const wrong = scenes.filter(({ said }) => isEnded(said[0]![1], said[1]![1]))
  assert.is(scenes.length, 80)
  assert.equal(
    wrong.map(({ said }) => said.map(([, text]) => text)),
    [],
  )
})

test.run()
