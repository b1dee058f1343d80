import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Answers with the constructs that models write, and with those easily cut in the wrong place. */
export const writtenAnswers: readonly string[] = [
  'Hello, world!',
  'Two lines\nof one paragraph.\n',
  '# Title\n\nText.\n\n## Part *two*\nText without a gap.\n### Third\n#### Fourth\n',
  'Setext\n===\nMore\n---\nText\n- - -\nEnd',
  'Steps:\n1. First\n2. Second\n   with more\n3. Third\n',
  '1. One\n1. Two\n\n1. Three\n\n   A paragraph.\n\n   ```sh\n   ls -l\n   ```\n1. Four',
  '9. Nine\n10. Ten\n11. Eleven',
  '- a\n - b\n  - c\n   - d\n    - e\n',
  '- a\n- b\n\n- c\n* d\n+ e\n',
  '- a\n  - b\n    - c\n      - d\n        - e\n          - f\n            - g\n              - deep in a narrow window',
  '- [ ] open\n- [x] done\n',
  '-\n\n- a\n-\n  b\n',
  'Some **bold**, *italic*, ***both***, ~~gone~~ and `code`, `` a ` b ``.',
  '**open and never closed, *nor this, `nor that',
  'See [the site](https://example.com/a?b=c "title"), <https://example.com>, <ada@example.com> and https://example.org.',
  '[later]\n\n[later]: https://example.com/later\n\n[later] and [again][later]\n',
  '[a]: /a\n"title\nover lines"\n\n[a]',
  '![A cat](https://example.com/cat.png) ![](data:image/png;base64,AAAA)',
  '> quote\nlazy\n> more\n\n> > nested\n> - list\n>   1. deeper\n>\n> ```js\n> let a = 1\n> ```\n',
  '```js\nconst a = `x`\n/* one\ntwo */ let b\n```\nText right behind.\n',
  '~~~python\ndef f():\n    """one\n    two"""\n    return 1\n~~~\n\n````md\n```\nnested\n```\n````\n',
  '```\nno language\n\twith a tab\n```',
  '```klingon\nunknown language\n```\n```\n```\n',
  '```js\nnever closed\nconst a = 1',
  '  ```rust\n  fn main() {\n      println!("hi");\n  }\n  ```\n',
  '```html\n<script>\nconst a = "</b>"\n</script>\n<style>\na { color: red }\n</style>\n```\n',
  `\`\`\`ts\n${'const long = "a string that is longer than the window, whatever the window may be, and even so"\n'.repeat(3)}\`\`\`\n`,
  `\`\`\`\n${Array.from({ length: 60 }, (_, at) => `line ${at}`).join('\n')}\n\`\`\`\nDone.`,
  '    indented code\n\n    more of it\n\nText\n',
  '| A | B |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\nAfter.',
  'Before\n| Left | Middle | Right |\n|:--|:-:|--:|\n| a | b | c |\n| longer than that | *b* | `1` |\nAfter',
  '| Name | Text |\n|--|--|\n| a | A long text that has to be broken, because the window is not as wide as that, and more |\n| 中文 | 表格里的中文也要对齐 |',
  `|${' wide |'.repeat(12)}\n|${'--|'.repeat(12)}\n|${' cell |'.repeat(12)}\n|${' more |'.repeat(12)}\n`,
  '| a | b |\nno table',
  '| a |\n|---|\n| `x \\| y` |',
  Array.from({ length: 50 }, (_, at) => `| ${at} | row |`)
    .join('\n')
    .replace('\n', '\n|--|--|\n'),
  '<div>\n<b>html</b>\n</div>\n\nA<br>B <i>c</i> <!-- comment -->\n\n<!-- open\n\nstill\n',
  'Hard  \nbreak\\\nbreak and a \\*star\\*',
  'Entities: &amp; &copy; &#27;[31m &#x202e; &#8203; &lt;b&gt;',
  '日本語の文章は空白なしで続くので、窓の幅で折り返さなければなりません。句読点もあります。\n\n- 箇条書きの項目も長ければ折り返して、印の右に並びます。\n',
  '한국어 문장은 띄어쓰기가 있지만 넓은 글자로 되어 있습니다. 창이 좁아도 괜찮아야 합니다.',
  'Emoji: 👨‍👩‍👧‍👦 👩🏽‍💻 🏳️‍🌈 🇩🇪 ❤️ 1️⃣ and 👍🏿 in a line that is long enough to be broken somewhere 👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦.',
  'Combining: e\u0301 a\u0308\u0323 नमस्ते สวัสดี العربية עברית ﷺ',
  `A word of ${'x'.repeat(200)} letters`,
  `https://example.com/${'path/'.repeat(40)}`,
  `One paragraph, taller than the window. ${'It goes on and on. '.repeat(80)}`,
  Array.from({ length: 80 }, (_, at) => `- item ${at} of a long list`).join('\n'),
  `- one item, taller than the window\n\n${Array.from({ length: 30 }, (_, at) => `  Paragraph ${at}.`).join('\n\n')}`,
  `> ${'A quote that is taller than the window, too. '.repeat(40)}`,
  'Windows\r\nline ends\r\n\r\n- a\r\n- b\r\n\r\n```js\r\nlet a\r\n```\r\n',
  '\n\n\nempty lines before\n\n\n\nbetween\n\n\n',
  ' \t \n',
  'Math: \\(a^2 + b^2\\) and \\[ x = 1 \\] and $a_1 * b_2$',
  'A line\n-\nwith a dash\n=\n',
  '1) one\n2) two\n3. other\n',
  'Text\n# Heading\nText\n> quote\nText\n',
  '***\n---\n___\n* * *\n',
  '\x1b[31mred\x1b[0m \x1b]0;title\x07 \u009b2J \u202egnp.exe\u202c b\u0007ell\rback',
  `${'> '.repeat(30)}deep`,
  `${'* '.repeat(30)}deep`,
  'The end of a list\n- a\n\nText\n- b\n- c\nlazy\n\n  still c\n\n\nOut',
]

/** The texts of the answers in recorded traffic: a folder of `{exchanges: [{response: {body}}]}`. */
export function recordedAnswers(folder: string): readonly string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.json'))
  const answers = files.flatMap((file) => {
    const { exchanges = [] } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
      exchanges?: readonly { readonly response: { readonly body?: string } }[]
    }
    return exchanges.map(({ response }) => answerIn(response.body ?? ''))
  })
  return [...new Set(answers.filter((text) => text.trim() !== ''))]
}

function answerIn(body: string): string {
  const whole = parsed(body)
  if (whole !== undefined) return textsIn(whole)
  return body
    .split('\n')
    .map((line) => textsIn(parsed(line.replace(/^data: ?/, ''))))
    .join('')
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

const fields = ['content', 'text', 'delta', 'thinking', 'reasoning', 'reasoning_content', 'refusal', 'summary']

/** The texts below the fields that providers put answers in. */
function textsIn(value: unknown, key = ''): string {
  if (typeof value === 'string') return fields.includes(key) ? value : ''
  if (Array.isArray(value)) return value.map((item) => textsIn(item, key)).join('')
  if (typeof value !== 'object' || value === null) return ''
  return Object.entries(value)
    .map(([name, field]) => textsIn(field, name))
    .join('')
}
