import * as assert from 'uvu/assert'
import { countCharacters, splitChunks, splitSentences } from '../../../speech/text/sentences.ts'
import { fc } from '../../helpers/properties.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('sentences and chunks')

const languages: Readonly<Record<string, readonly string[]>> = {
  English: [
    'Dr. Smith paid $3.50 to J. K. Rowling.',
    'See https://x.org/a.b?c=d.',
    '"Stop!" he said.',
    'Really?!',
    'Yes.',
  ],
  'English names and titles': [
    'J. R. R. Tolkien met C. S. Lewis, Ph.D., in Oxford.',
    'Gen. Smith vs. Lt. Col. Jones, Jr., et al. Inc. v. U.S. Dept. of State.',
    'See vol. 3, ch. 4, pp. 12-15, fig. 2 and no. 7.',
    'Version 2.0.1 of example.org costs $1.5 million, i.e. a lot.',
    'Wait... what?',
    'It is 5 p.m. on Jan. 5 in St. Louis, Mo. 63101.',
    'He has a B.A. and an M.Sc. degree.',
    'At approx. 3.5 m. above ground.',
    'Done.',
  ],
  'English at the end of an abbreviation': ['He lives in the U.S.', 'Now he works until 5 p.m.', 'Then he sleeps.'],
  'English lists': ['1. First.', '2. Second.', 'He was 35.', 'Then he left.'],
  Chinese: ['他说：“你好。”', '然后走了。', '真的吗？！', '好。'],
  Japanese: ['「行くよ。」と言った。', '「はい！」', '彼は笑った。'],
  Korean: ['안녕하세요.', '반갑습니다!', '정말요?'],
  German: ['Am 3. Mai kam z. B. Herr Dr. Müller.', 'Das kostet ca. 3,50 Euro.', 'Gut.'],
  'German numbers and abbreviations': [
    'Der Umsatz stieg auf 3,5 Mio. Euro.',
    'Rund 2 Mrd. Menschen und 40 Tsd. Tiere leben dort.',
    'Am 24. Dezember, dem 1. Advent und im 19. Jahrhundert regierte er.',
    'D.h. es geht u. a. um Prof. Dr. Meier, geb. Huber, bzw. dessen Frau.',
    'Siehe S. 12, Nr. 5, Abs. 3, Art. 2 und Kap. 4.',
    'Die Fa. Meyer in Frankfurt a. M. liefert inkl. MwSt. am Mo. oder Di. um ca. 8.30 Uhr.',
    'Das gilt für Obst, Gemüse usw.',
    'Danach kam i. d. R. die St. Petersburger Str. 5.',
  ],
  French: ['M. Dupont habite ici, p. ex. à Paris.', '« Oui ! »', 'Il est parti.'],
  'French abbreviations': [
    'Mme. Curie et MM. Durand et Cie. sont au no. 5, bd. Voltaire.',
    'Voir p. 12, chap. 3, av. J.-C. et apr. J.-C., c.-à-d. avant.',
    'Du pain, du lait, etc.',
    'Il vit à St. Malo.',
  ],
  Spanish: ['¿Qué?', '¡Vale!', 'El Sr. Gómez vive aquí.'],
  'Spanish abbreviations': [
    'Los EE. UU. de América firmaron con los JJ. OO. y las FF. AA. de Chile.',
    'P. ej. la Sra. Ruiz y Uds. viven en la Avda. Libertad, núm. 5, pág. 3.',
    'El Dr. Pérez llegó a las 5 p. m. de ayer.',
    'Viajó a EE. UU.',
    'Luego volvió.',
  ],
  Italian: ['Il Sig. Rossi è qui.', 'Va bene!'],
  'Italian abbreviations': [
    'L’avv. Bianchi, il dott. Verdi e la prof.ssa Neri, p. es. a Roma, cap. 3, pag. 5, n. 7.',
    'Nacque nel 44 a. C. Roma era grande.',
    'Pane, latte ecc.',
    'Fine.',
  ],
  Portuguese: ['O Sr. Silva não está.', 'Tudo bem?'],
  'Portuguese abbreviations': [
    'A Sra. Dra. Costa mora na Av. Brasil, n.º 5, p. ex. no 3.º andar.',
    'A Exma. Sra. Lima veio.',
    'Fim.',
  ],
  Russian: ['Он жил на ул. Ленина в 1999 г. и работал.', 'Потом уехал.'],
  'Russian abbreviations': [
    'Яблоки, груши и т. д. лежат в корзине.',
    'А. С. Пушкин родился в г. Москве, т. е. в России, в 1799 г.',
    'Около 5 млн. рублей и 3 тыс. Евро, см. стр. 5, рис. 2.',
    'И т. п.',
    'Конец.',
  ],
}
for (const [language, sentences] of Object.entries(languages))
  test(`${language}: sentences end where they end`, () => {
    const glue = /Chinese|Japanese/.test(language) ? '' : ' '
    assert.equal(splitSentences(sentences.join(glue)), sentences)
  })

test('a line feed ends a sentence', () => assert.equal(splitSentences('Title\nText here'), ['Title', 'Text here']))

test('chunks are packed sentences of at most 500 characters', () => {
  const sentence = 'The weather will change before the end of the week.'
  const chunks = splitChunks(Array(30).fill(sentence).join(' '))
  assert.is(chunks.length, 4)
  for (const chunk of chunks) assert.ok(chunk.length <= 500 && chunk.endsWith('.') && chunk.startsWith('The'))
})

test('a long sentence is cut at clause marks, then between words', () => {
  const clauses = splitChunks(`${'one two three four five six seven eight nine ten, '.repeat(20)}end.`)
  for (const chunk of clauses.slice(0, -1)) assert.ok(chunk.endsWith('ten,') && chunk.length <= 500)
  const words = splitChunks('word '.repeat(400).trim())
  for (const chunk of words) assert.match(chunk, /^word( word)*$/)
  const chinese = splitChunks('今天天气很好，'.repeat(200))
  for (const chunk of chinese.slice(0, -1)) assert.ok(chunk.endsWith('，') && countCharacters(chunk) <= 500)
})

test('an address is never cut, a single longer word is', () => {
  const url = `https://example.org/${'a/b.c,'.repeat(60)}x`
  const chunks = splitChunks(`${'Look at this page now. '.repeat(10)}${url} please.`)
  assert.ok(chunks.some((chunk) => chunk.includes(url)))
  assert.equal(splitChunks('x'.repeat(1200)).map(countCharacters), [500, 500, 200])
})

test('any text: chunks keep within the limit, lose no letter, and split no character', () =>
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.constantFrom('. ', '。', ', ', '\n', ' '))),
      fc.integer({ min: 20, max: 500 }),
      (pieces, limit) => {
        const text = pieces.join('')
        const chunks = splitChunks(text, limit)
        for (const chunk of chunks) {
          assert.ok(countCharacters(chunk) <= limit)
          assert.not.match(chunk, /\p{Cs}/u)
          assert.is(chunk, chunk.trim())
        }
        assert.is(chunks.join('').replace(/\s/g, ''), text.replace(/\s/g, ''))
      },
    ),
  ))

test('graphemes stay whole where a word must be cut', () => {
  const family = '👨‍👩‍👧'
  const chunks = splitChunks(family.repeat(300))
  for (const chunk of chunks) assert.is(chunk.replaceAll(family, ''), '')
})

test.run()
