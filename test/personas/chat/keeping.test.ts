import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { keepingOfAnswer, keepingOfTurn, partsOf, type Refusal, refusalOf } from '../../../src/personas/chat/keeping.ts'
import { testData } from '../../helpers/data.ts'
import { pluck } from '../../helpers/pluck.ts'
import { fc } from '../../helpers/properties.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('what a chat keeps')

const refused: Readonly<Record<Exclude<Refusal, 'no words'>, readonly string[]>> = {
  'small talk': [
    'thanks',
    'Thank you so much!',
    'lol',
    'hahahaha',
    'ok',
    'ok, great 👍',
    'shorter please',
    'Again, but simpler.',
    'No, not like that',
    'Thanks, that worked.',
    'Perfect, it works now, the chart opens at once.',
    'good morning',
    'Vielen Dank!',
    'kürzer bitte',
    'Alles klar, super',
    'Merci beaucoup !',
    "D'accord, c'est parfait",
    'plus court stp',
    'Muchas gracias, perfecto',
    'jajaja',
    'otra vez, más corto',
    'Grazie mille',
    'va bene, ancora più breve',
    'Muito obrigada!',
    'kkkkk',
    'Dank je wel',
    'korter graag',
    'Dziękuję bardzo!',
    'krócej proszę',
    'Спасибо большое!',
    'короче, пожалуйста',
    'хахаха',
    'tack så mycket',
    'çok teşekkür ederim',
    '谢谢！',
    '好的，谢谢你',
    '短一点',
    '哈哈哈',
    'ありがとうございます！',
    'わかりました。',
    'もっと短くしてください',
    '감사합니다!',
    'ㅋㅋㅋㅋ',
    '네, 알겠습니다',
    '👍🎉',
    '...',
  ],
  'off the record': [
    "don't remember this: I am expecting",
    'I am expecting. Please do not remember that.',
    'Off the record, I hate my job.',
    'My boss drinks. This stays between us.',
    "Don't put this in your memory: I owe Jo money.",
    'Merk dir das nicht: ich bin schwanger.',
    'Unter uns gesagt, ich kündige bald.',
    "Ne retiens pas ça : j'attends un enfant.",
    'No guardes esto: estoy embarazada.',
    'Non memorizzare questo: aspetto un bambino.',
    'Não guarde isto: estou grávida.',
    'Onthoud dit niet: ik ben zwanger.',
    'Nie zapamiętuj tego: jestem w ciąży.',
    'Не запоминай это: я беременна.',
    "Не запам'ятовуй це: я вагітна.",
    'Kom inte ihåg det här: jag är gravid.',
    'Bunu kaydetme: hamileyim.',
    '不要记住这个：我怀孕了。',
    'これは覚えないで。妊娠しています。',
    '이건 기억하지 마: 나 임신했어.',
    'لا تتذكر هذا: أنا حامل',
    'Please do not store what I write next. I have a tumour.',
    "I'd appreciate it if you didn't save any of this. I steal.",
    "You don't need to remember this, but I cried all night.",
    'Between you and me, I dislike her.',
    'Ich möchte nicht, dass du das speicherst: ich habe gelogen.',
    'Bitte nicht merken: ich habe Schulden.',
    "Je préfère que tu n'enregistres pas ça : j'ai menti.",
    'Ne garde aucune trace de ça : je bois.',
    'No quiero que recuerdes esto: mentí.',
    'No lo guardes, por favor: perdí el trabajo.',
    'Non voglio che ricordi questo: ho mentito.',
    'Che rimanga tra noi: ci separiamo.',
    'Prefiro que não guardes isto: menti.',
    'Não precisa lembrar disso: chorei a noite toda.',
    'Ik wil niet dat je dit onthoudt: ik heb gelogen.',
    'Sla dit niet op: ik heb schulden.',
    'Nie chcę, żebyś to zapamiętał: skłamałem.',
    'Tego nie zapamiętuj: mam długi.',
    'Я не хочу, чтобы ты это запоминал: я солгал.',
    'Только между нами: я увольняюсь.',
    'Bunu hatırlamanı istemiyorum: yalan söyledim.',
    'Bu konuşmayı kaydetme, borcum var.',
    'Jag vill inte att du minns det här: jag ljög.',
    'Bara mellan oss: jag har skulder.',
    'Nechci, aby sis to pamatoval: lhal jsem.',
    'Neukládej tuhle zprávu: mám dluhy.',
    '我不想让你记住这件事：我撒谎了。',
    '请不要保存这段话。我欠债了。',
    'このメッセージは保存しないでください：借金があります。',
    '今のは忘れて。酔っていました。',
    '이걸 기억하지 않았으면 좋겠어: 거짓말했어.',
    '우리끼리 얘기인데, 빚이 있어.',
  ],
  forget: [
    'forget my birthday',
    'Please forget about Anna.',
    'Delete what I said about Anna',
    'Forget everything I told you',
    'Vergiss bitte meinen Geburtstag.',
    'Oublie mon anniversaire.',
    'Olvida mi cumpleaños',
    'Dimentica il mio compleanno',
    'Esqueça meu aniversário',
    'Vergeet mijn verjaardag.',
    'Zapomnij o moich urodzinach',
    'Забудь про мой день рождения',
    'Забудь мій день народження',
    'Glöm min födelsedag',
    'Doğum günümü unut.',
    '忘记我的生日',
    '私の誕生日を忘れてください。',
    '내 생일을 잊어줘',
    'انس عيد ميلادي',
    'Zapomeň moje narozeniny',
    'Dimenticati del mio indirizzo',
    'I want you to forget my address',
    'Please forget the number of the safe.',
    'Forget the name of the hotel, please!',
  ],
  request: [
    'Translate this: the parts will be late.',
    'translate into French',
    'Write a poem about autumn.',
    'Please write me a short reply to the landlord.',
    'Can you explain how tides work?',
    'could you make that sound friendlier',
    'Summarize the following text:\n\nI was born in Leeds and my mother is a nurse.',
    'Rewrite this so it is polite: "I want my money back, my order is broken."',
    'Give me five ideas for a birthday present.',
    'Ok, now make it longer',
    'Hi, please proofread my cover letter.',
    'I want you to act as a Linux terminal.',
    "I'd like two short titles for a talk about bees.",
    'Explain quantum tunnelling like I am five.',
    'Fix the following code',
    'Let’s play twenty questions',
    'Schreib mir eine Absage für die Einladung.',
    'Übersetze das bitte ins Englische.',
    'Kannst du das zusammenfassen?',
    'Gib mir drei Vorschläge.',
    'Écris un poème sur la mer.',
    'Donne-moi une recette de gratin.',
    'Peux-tu traduire ce texte ?',
    'Escribe una carta al banco.',
    '¿Puedes resumir este artículo?',
    'Dame tres ideas.',
    'Scrivi una lettera al condominio.',
    'Dammi un esempio.',
    'Escreva um resumo.',
    'Me dê três exemplos.',
    'Schrijf een kort verhaal over een vos.',
    'Kun je dit vertalen?',
    'Napisz krótki wiersz o jesieni.',
    'Czy możesz to przetłumaczyć?',
    'Напиши короткое письмо учителю.',
    'Объясни, как работает дизель.',
    'Skriv en kort dikt om havet.',
    'Bu metni İngilizceye çevir.',
    '请把这段话翻译成英文。',
    '帮我写一封道歉信',
    '总结一下这篇文章',
    'この文章を英語に翻訳してください。',
    '俳句を三つ作って',
    '이 글을 영어로 번역해 주세요.',
    '회의록을 요약해줘',
    'اكتب رسالة قصيرة',
  ],
  code: [
    '```\nconst a = 1\n```',
    'function add(a, b) {\n  return a + b;\n}',
    'import os\nfor name in os.listdir("."):\n    print(name)\n',
    'SELECT name FROM users WHERE age > 30;',
    'docker compose -f stack.yml up -d',
    'curl -X POST http://127.0.0.1:8080/api',
    '{"name": "x", "values": [1, 2]}',
    "TypeError: Cannot read properties of undefined (reading 'map')",
    'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\nKeyError: \'x\'',
    '<div class="a">\n  <p>Hello</p>\n</div>',
    'server:\n  port: 8080\n  host: 0.0.0.0',
    '[core]\nautocrlf = false\neditor = vim',
    'diff --git a/x b/x\n@@ -1,2 +1,2 @@\n-a\n+b',
  ],
  secret: [
    'My IBAN is DE89 3704 0044 0532 0130 00, the bank is in Graz.',
    'Pay to gb29nwbk60161331926819 please',
    'The pincode is 4471',
    'pincode 4471',
    'My PIN 4471 never changes',
    '4471 is my pin',
    'Můj PIN je 4471',
    'Mój kod PIN to 4471',
    'мой пин-код 4471',
    '暗証番号は4471です',
    'My SSN: 123-45-6789',
    'my social security number is 123456789',
    'my key is sk-proj-abcdefghijklmnopqrstuvwxyz012345',
    'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
    'the key is aic_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKL',
    'AKIAIOSFODNN7EXAMPLE',
    'My password is hunter2!',
    'password: hunter2',
    'Mein Passwort lautet Sommer2024!',
    'Mon mot de passe est soleil!99',
    'Mi contraseña es gato123',
    'Мой пароль: котик99',
    'パスワードはneko1234です',
    'The PIN of my card is 4821',
    'My card is 4111 1111 1111 1111, valid till 12/27',
    'postgres://admin:s3cret@db.example.org/main',
    '-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----',
    'Authorization: Bearer abcdefghijklmnopqrstuvwxyz',
  ],
}

for (const [reason, texts] of Object.entries(refused))
  test(`${reason} is refused in every language`, () => {
    const wrong = texts.filter((text) => {
      const parts = keepingOfTurn(text)
      const named = reason === 'small talk' ? ['small talk', 'no words'] : [reason]
      return parts.length === 0 || !parts.every(({ refusal }) => refusal && named.includes(refusal))
    })
    assert.equal(wrong, [])
  })

test('facts, preferences and plans are kept as they were said, however they begin', () => {
  const facts = [
    'My cat is afraid of thunder.',
    'Mia.',
    "I don't remember this place at all.",
    'I forget my keys all the time',
    'the record is off the shelf',
    "don't forget to remind me",
    "I don't log my runs any more.",
    'The interview was off the record.',
    'Between us and the lake lies a forest.',
    'I prefer that you call me Jo.',
    'Ich kann mir Namen nicht merken.',
    'Zwischen uns und den Nachbarn steht ein Zaun.',
    'Il y a une clôture entre nous et les voisins.',
    'Entre nosotros hablamos gallego.',
    'Non annoto mai le spese.',
    'Não guardo recibos.',
    'Mijn dochter onthoudt de tafels niet.',
    'Między nami i sąsiadami jest płot.',
    'Между нами и соседями стоит забор.',
    'Komşularla aramızda bir çit var.',
    'Mellan oss är det tio års skillnad.',
    'Mezi námi je deset let rozdíl.',
    '别忘了提醒我看牙医。',
    'この通りは覚えていません。',
    '나는 항상 열쇠를 잊어버려.',
    'Don’t forget my birthday!',
    'Please forget the last line of the poem.',
    'Forget the diet, I am having cake',
    'Forget-me-nots are my favourite flowers.',
    'My mother never saved it for later.',
    'Vergiss nicht, dass mein Vater am Montag kommt.',
    'Не забудь, что у меня аллергия.',
    'Doğum günümü unutma.',
    'The invoice number is DE89 3704 0044 0532 0130 01.',
    'The part number is 987-65-4321 and the van is AB12 CDE.',
    'I put a pin on the map in 2024.',
    'Tomorrow at five',
    'I write novels about the sea.',
    'I want to learn Italian this year.',
    'Thanks to Priya the project is on time.',
    'Thanks, my sister liked the card.',
    'Great news: I got the job!',
    'Ok, I moved to Porto in May.',
    'Remember that I am allergic to nuts.',
    'Please remember my birthday is on 3 March.',
    'Can you remember that I drink my tea without milk?',
    'Always answer me in British English.',
    'From now on write short answers.',
    'Please call me Dan.',
    'Write a card for my sister. I am visiting her in Porto next week.',
    'List of books I own: Dune, Emma, Ulysses',
    'Draft of my novel is due in June.',
    'Buy oat milk and bread.',
    'Make a dentist appointment for Theo.',
    'Find a new plumber before winter.',
    'Review with Jo on Friday at ten.',
    'Fix the gutter before the rain.',
    'Translating is my job; I studied it in Graz.',
    'My password manager is Bitwarden.',
    'The wifi password is hedgehog-1987.',
    'The parcel number is 4111 1111 1111 1112.',
    'Call me on 0161 496 0000.',
    'Shopping:\n- flour\n- milk\n- eggs',
    'Invited: Hugh, Dawn, the Kaminskis',
    'Das Fest ist am 3. Mai; ich schreibe noch die Einladungen.',
    'Ich arbeite als Krankenschwester in Kiel.',
    'Merk dir bitte: ich esse kein Fleisch.',
    'Mi hermana se llama Lucía y vive en Sevilla.',
    'Je suis allergique aux noix.',
    'Mio fratello fa il panettiere a Bari.',
    'Moro em Recife com os meus pais.',
    'Mijn fiets is vorige week gestolen.',
    'Mam dwa koty i psa.',
    'Моя дочь учится в Казани.',
    'Min bror bor i Bergen.',
    'Kız kardeşim İzmir’de yaşıyor.',
    '我对花生过敏。',
    '写日记是我的习惯。',
    '我的猫叫咪咪。',
    '妹は京都で働いています。',
    '猫を二匹飼っています。',
    '저는 부산에 살아요.',
    '기억해 줘: 저는 우유를 못 마셔요.',
    'أعيش في القاهرة مع أختي.',
  ]
  const wrong = facts.filter((text) => {
    const parts = keepingOfTurn(text)
    return parts.length !== 1 || parts[0]!.content !== text || parts[0]!.refusal !== undefined
  })
  assert.equal(wrong, [])
})

test('a wish to keep nothing also counts at the end of a message that is longer than what is kept of it', () => {
  const end = "That was the report. Please don't remember this."
  assert.equal(pluck(keepingOfTurn('The pump of the third mill leaks.', undefined, end), 'refusal'), ['off the record'])
})

const recorded = testData('memory', 'relevance.json')
const withRecords = recorded === undefined ? test.skip : test

withRecords(
  'of recorded facts and plans at most one in a hundred is refused, of requests and code 85 in a hundred',
  () => {
    const { memories } = JSON.parse(readFileSync(recorded!, 'utf8')) as {
      memories: readonly { content: string; kind: string }[]
    }
    const share = (kinds: readonly string[]) => {
      const chosen = memories.filter(({ kind }) => kinds.includes(kind))
      return (
        chosen.filter(({ content }) => keepingOfTurn(content).every(({ refusal }) => refusal)).length / chosen.length
      )
    }
    assert.ok(share(['fact', 'preference', 'plan', 'note']) <= 0.01)
    assert.ok(share(['request', 'code']) >= 0.85)
  },
)

test('a question alone weighs little, and an answer less than the words of its user', () => {
  assert.equal(pluck(keepingOfTurn('What is the capital of Peru?'), 'importance'), [0.2])
  assert.equal(pluck(keepingOfTurn('I live in Lima.'), 'importance'), [0.5])
  assert.equal(pluck(keepingOfAnswer('The capital of Peru is Lima.'), 'importance'), [0.3])
  assert.equal(pluck(keepingOfAnswer("You're welcome!"), 'refusal'), ['small talk'])
})

test('a key that this installation has handed out is a secret, whatever its form', () => {
  const redact = (text: string) => text.replaceAll('plain-words-as-key', '[key]')
  assert.is(refusalOf('use plain-words-as-key for the tests', redact), 'secret')
  assert.is(refusalOf('use plain words for the tests', redact), undefined)
  assert.equal(pluck(keepingOfTurn('Write a test with plain-words-as-key', redact), 'refusal'), ['secret'])
})

test('code between statements is left out, and the statements stay', () => {
  const parts = keepingOfTurn('My server runs Debian.\n\n```\nuname -a\n```\n\nIt stands in the cellar of my house.')
  assert.equal(pluck(parts, 'content', 'refusal'), [
    ['My server runs Debian.', undefined],
    ['```\nuname -a\n```', 'code'],
    ['It stands in the cellar of my house.', undefined],
  ])
})

test('a long turn is split at its paragraphs, and a list into parts under its heading', () => {
  const paragraph = (word: string) => `${`${word} was there and saw it all. `.repeat(12).trim()}`
  const turn = ['Ada', 'Bob', 'Cleo', 'Dan'].map(paragraph).join('\n\n')
  assert.equal(partsOf(turn), ['Ada', 'Bob', 'Cleo', 'Dan'].map(paragraph))
  const items = Array.from({ length: 60 }, (_, at) => `- item number ${at} of the things that I lent out to friends`)
  const parts = partsOf(`Lent out:\n\n${items.join('\n')}`)
  assert.ok(parts.length > 1)
  for (const part of parts) assert.match(part, /^Lent out:\n- item/)
  assert.equal(
    parts.flatMap((part) => part.split('\n').slice(1)),
    items,
  )
  const short = `${'A sentence. '.repeat(40)}\n\nAnother paragraph.`
  assert.equal(partsOf(short), [short.trim()], 'a turn that is not long stays whole')
})

test('whatever a turn holds, its parts are of bounded length and lose no letter', () => {
  const piece = fc.oneof(
    fc.lorem({ maxCount: 60 }),
    fc.string({ unit: 'grapheme', maxLength: 400 }),
    fc.constant('\n\n'),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const turn = pieces.join(' ').slice(0, 20_000)
      const parts = partsOf(turn)
      const letters = (text: string) => text.replace(/\s+/g, '')
      const isWellFormed = (text: string) => Buffer.from(text).toString() === text
      for (const part of parts) {
        assert.ok(part.trim() !== '' && (isWellFormed(part) || !isWellFormed(turn)))
        if (!part.startsWith('```')) assert.ok(part.length <= 1_800, String(part.length))
      }
      assert.ok(parts.length <= 40, String(parts.length))
      assert.is(letters(parts.join('')), letters(turn))
    }),
  )
})

test('a turn of the greatest length is judged in a moment, whatever it repeats', () => {
  for (const word of [
    'a ',
    '(',
    '{',
    '"',
    'please ',
    'thanks ',
    '- x\n',
    '\n',
    '```',
    'if (',
    '1 ',
    '谢',
    '把',
    'password is ',
    'haha',
  ])
    keepingOfTurn(word.repeat(20_000 / word.length))
})

test.run()
