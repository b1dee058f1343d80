// Some with --all only: a whole sample.
import * as assert from 'uvu/assert'
import { sanitize } from '../../../speech/text/sanitize.ts'
import { fc } from '../../helpers/properties.ts'
import { isWholeRun, suite } from '../../helpers/suite.ts'

const test = suite('text made ready to be spoken')

const tables: Readonly<Record<string, readonly (readonly [written: string, spoken: string])[]>> = {
  'emoji and symbols go, with the space before a mark': [
    ['Hello 😀 world!', 'Hello world!'],
    ['Great 🎉!', 'Great!'],
    ['A 👨‍👩‍👧 family 🇩🇪 here', 'A family here'],
    ['yes ✔ no ✘ left ⬅️ right ➡️ ★', 'yes no left right'],
    ['~ nice~', 'nice'],
  ],
  'what a voice can read stays: degrees, numero signs, money, percent': [
    ['5°C, № 5, €3.50, 10% & more', '5°C, № 5, €3.50, 10% & more'],
    ['A → B, 5 ≤ x, ~10, Windows™, ½ and 10²', 'A → B, 5 ≤ x, ~10, Windows™, ½ and 10²'],
    ['1️⃣ one', '1 one'],
  ],
  'decorated letters and digits are the plain ones': [
    ['Ｆｕｌｌ ｗｉｄｔｈ １２', 'Full width 12'],
    ['ﬁne ﬂow, 𝐇𝐞𝐥𝐥𝐨 𝒘𝒐𝒓𝒍𝒅, Ⓗⓘ, ①, 1ˢᵗ, H₂O', 'fine flow, Hello world, Hi, 1, 1st, H2O'],
    ['٣ and ४ and ๕', '3 and 4 and 5'],
  ],
  'Markdown leaves its text': [
    ['**bold** and *it* and _x_ and __y__ and ~~z~~ and `code`', 'bold and it and x and y and z and code'],
    ['# Title\n\nText', 'Title\nText'],
    ['- one\n* two\n- [x] three', 'one\ntwo\nthree'],
    ['> quoted', 'quoted'],
    ['above\n\n---\n\nbelow', 'above\nbelow'],
    ['```js\nlet x\n```', 'let x'],
    ['a \\*star\\*', 'a star'],
  ],
  'marks that are no emphasis stay': [
    ['snake_case and 2 * 3 = 6 and 2*3', 'snake_case and 2 * 3 = 6 and 2*3'],
    ['file_name_2.txt', 'file_name_2.txt'],
  ],
  'cells of a table keep a pause between them, rows are lines': [
    ['| Name | Age |\n|:---|---:|\n| Anna | 30 |\n| Bob. | 31 |', 'Name, Age\nAnna, 30\nBob. 31'],
    ['Name | Age\n--- | ---\nAnna | 30\nBob | 31', 'Name, Age\nAnna, 30\nBob, 31'],
    ['| 名前 | 年齢 |\n|---|---|', '名前，年齢'],
    ['Home | About | Contact', 'Home, About, Contact'],
    ['<table><tr><th>Name</th><th>Age</th></tr><tr><td>Anna</td><td>30</td></tr></table>', 'Name, Age\nAnna, 30'],
  ],
  'HTML leaves its text': [
    ['<p>Hello <b>bold</b> <a href="https://x.org?a=1&amp;b=2">link</a></p><p>Next</p>', 'Hello bold link\nNext'],
    ['one<br>two<br/>three', 'one\ntwo\nthree'],
    ['<ul><li>a</li><li>b</li></ul>', 'a\nb'],
    ['<style>p { color: red }</style>Text<script>let x = 1 < 2</script> here<!-- no -->', 'Text here'],
    ['Tom &amp; Jerry &mdash; &copy; 2024 &#8364;5 caf&eacute;', 'Tom & Jerry — © 2024 €5 café'],
    ['<think>hm</think> <speak>Hi <break time="1s"/> there</speak>', 'hm Hi there'],
    ['a < b and c > d', 'a < b and c > d'],
    ['x<y and 2<3>1', 'x<y and 2<3>1'],
    ['a <b and c> d', 'a <b and c> d'],
    ['AT&T & R&D', 'AT&T & R&D'],
  ],
  'marks of footnotes go': [
    ['It is so.[1] And here[2, 3] too [4].', 'It is so. And here too.'],
    ['a[1] = b[2]', 'a[1] = b[2]'],
  ],
  'links read as their label': [
    ['[the page](https://x.org/a_(b)) here', 'the page here'],
    ['![a cat](cat.png "Cat") sleeps', 'a cat sleeps'],
    ['[label][ref]', 'label'],
    ['see <https://x.org>', 'see https://x.org'],
    ['not [a link] (really)', 'not [a link] (really)'],
  ],
  'stage directions go, other parentheses stay': [
    ['(laughs) Hello', 'Hello'],
    ['Hello (laughs (softly)) there', 'Hello (laughs (softly)) there'],
    ['read on (see page 4)', 'read on (see page 4)'],
    ['it was July (only July)', 'it was July (only July)'],
    ['(pause the video first) then go', '(pause the video first) then go'],
    ['（笑）你好（见第四页）', '你好（见第四页）'],
    ['(lacht) Guten Tag. (rires) Bonjour. (risas) Hola. (вздыхает) Да.', 'Guten Tag. Bonjour. Hola. Да.'],
    ['an unclosed (laughs', 'an unclosed (laughs'],
  ],
  'long repeats shrink, digits never': [
    ['FUUUUU', 'FUU'],
    ['Nooooo way!!!!!!', 'Noo way!'],
    ['Schifffahrt, www, 1000000 and 55555', 'Schifffahrt, www, 1000000 and 55555'],
    ['wait.......', 'wait...'],
    ['哈哈哈哈哈', '哈哈'],
  ],
  'Chinese, Japanese, Korean and Russian survive': [
    ['你好，世界。', '你好，世界。'],
    ['こんにちは、世界！', 'こんにちは、世界！'],
    ['안녕하세요, 세상!', '안녕하세요, 세상!'],
    ['Привет, мир!', 'Привет, мир!'],
    ['一行\n二行', '一行二行'],
  ],
  'white space is one space, paragraphs one line feed': [
    ['  a \t b\u00a0c  \r\nd ', 'a b c d'],
    ['one\n\n\ntwo', 'one\ntwo'],
    ['zero\u200bwidth and soft\u00adhyphen', 'zerowidth and softhyphen'],
  ],
  'nothing to speak is empty': [
    ['', ''],
    ['😀🎉', ''],
    ['...!?', ''],
    ['(laughs)', ''],
    ['('.repeat(9990), ''],
  ],
}
for (const [name, rows] of Object.entries(tables))
  test(name, () => {
    for (const [written, spoken] of rows) assert.is(sanitize(written), spoken)
  })

/** Texts made of the marks that the sanitiser looks for. */
const marks =
  '* ** _ ` ~~ ( ) （ ） [ ] [a](b) ![x](y) (laughs) (see) \\n - # > 1. 😀 👩‍👩‍👧 aaaaa !!! ... 。 你好 é e\u0301 \u200d \ud83d \\ \\* ‼ a*b 5*3 a_b <b> | --- [^1] ½'
const marked = fc
  .array(fc.constantFrom(...marks.split(' ').map((mark) => mark.replace('\\n', '\n')), ' ', 'ab', 'Z', '1'), {
    maxLength: 40,
  })
  .map((pieces) => pieces.join(''))

test('clean text is left alone: twice is once', () =>
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'grapheme', maxLength: 200 }), marked), (text) => {
      const once = sanitize(text)
      // A line feed of the result stands between paragraphs; read again, it would be a wrapped line's.
      for (const line of once.split('\n')) assert.is(sanitize(line), /[\p{L}\p{N}]/u.test(line) ? line : '')
      assert.is(/[\p{Cc}\p{Cf}\p{Cs}]/u.test(once.replaceAll('\n', '')), false)
    }),
  ))

test('letters and digits of plain prose are never lost', () =>
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[a-zäöüßéñçа-я一-龥가-힣0-9]{1,3}$/u), { minLength: 1 }), (words) => {
      assert.is(sanitize(words.join(' ')), words.join(' ').normalize('NFC'))
    }),
  ))

test.whole('hostile text of 300,000 characters is read without quadratic time', () => {
  const size = isWholeRun ? 300_000 : 100_000
  const hostile = [
    '(',
    '[',
    '[a](',
    '](',
    '*',
    '* ',
    '_',
    '`',
    '😀 ',
    '\\',
    '<http:',
    '# ',
    '> ',
    '- ',
    'a\u0301\u0327',
    'a\n',
    '`\n',
    '[\r\n',
    '- - ',
  ]
  const closed = ['('.repeat(size / 2) + ')'.repeat(size / 2), '(laughs '.repeat(size / 16) + ')'.repeat(size / 16)]
  const texts = [...hostile.map((piece) => piece.repeat(size / piece.length)), ...closed, `a${'\u0301'.repeat(size)}`]
  for (const text of texts) {
    // Quadratic time would take minutes here; the bound leaves a slow and busy machine a hundredfold of the need.
    const milliseconds = cpuOf(() => sanitize(text))
    assert.ok(milliseconds < size / 30, `${text.slice(0, 8)}…: ${milliseconds} ms`)
  }
})

/** Milliseconds of processor time, which a busy machine stretches less than the clock. */
function cpuOf(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

test.run()
