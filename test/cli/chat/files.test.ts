// Some with --all only: many processes.
import { execFileSync } from 'node:child_process'
import { symlinkSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { walk } from '../../../src/cli/chat/files/walk.ts'
import { AppError } from '../../../src/errors.ts'
import { closing } from '../../helpers/disposal.ts'
import { suite } from '../../helpers/suite.ts'
import { type Asking, namesOf, openAsking } from './asked-files.ts'

const test = suite('aichat chat -f, of files and folders')
const png = Buffer.from('89504e470d0a1a0a', 'hex')

test('a folder gives its text files in the order of their names, without what .gitignore and a dot leave out', () =>
  asking(async ({ ask, folder, write }) => {
    write({
      'p/b.ts': 'const b = 1\n',
      'p/a.md': 'A note',
      'p/sub/c.txt': 'See',
      'p/node_modules/x/index.js': 'x',
      'p/.gitignore': 'node_modules\n*.log\n',
      'p/build.log': 'log',
      'p/sub/.gitignore': '!kept.log\nsecret.*\n',
      'p/sub/kept.log': 'kept',
      'p/sub/secret.txt': 's3cret',
      'p/.env': 'KEY=s3cret',
      'p/.git/config': 'git',
      'p/dot.png': png,
      'p/data.bin': Buffer.from([1, 0, 2]),
    })
    const { code, parts, stderr } = await ask([join(folder, 'p')])
    assert.is(code, 0, stderr)
    const names = ['a.md', 'b.ts', 'sub/c.txt', 'sub/kept.log']
    assert.equal(
      namesOf(parts),
      names.map((name) => join(folder, 'p', name)),
    )
    assert.is(parts[1]!.text, `<file path="${join(folder, 'p/b.ts')}">\nconst b = 1\n</file>`)
    assert.match(stderr, /aichat: 4 files, 25 bytes, about \d+ tokens:/)
    assert.match(stderr, /left out: \S+p: 3 entries that \.gitignore names and 3 hidden entries/)
    assert.match(stderr, /left out: \S+dot\.png: not text/)
    assert.match(stderr, /left out: \S+data\.bin: neither text/)
  }))

test('rules of the repository above a folder hold in it, unless they ignore the folder itself', () =>
  asking(async ({ ask, folder, write }) => {
    execFileSync('git', ['init', '-q', folder])
    write({
      '.gitignore': '/out\n*.tmp\n',
      'src/a.ts': 'a',
      'src/a.tmp': 'tmp',
      'out/made.js': 'made',
      'out/made.tmp': 't',
    })
    assert.equal(namesOf((await ask([join(folder, 'src')])).parts), [join(folder, 'src/a.ts')])
    assert.equal(
      namesOf((await ask([join(folder, 'out')])).parts),
      ['js', 'tmp'].map((end) => join(folder, `out/made.${end}`)),
    )
  }))

test('a pattern gives the files that it matches, pictures too; a file of that very name comes first', () =>
  asking(async ({ ask, folder, write }) => {
    write({
      'a.md': 'A',
      'b.md': 'B',
      'deep/er/c.md': 'C',
      'dot.png': png,
      'x.bin': Buffer.from([0]),
      '[a].md': 'named',
    })
    const md = ['[a].md', 'a.md', 'b.md', 'deep/er/c.md'].map((name) => join(folder, name))
    assert.equal(namesOf((await ask([join(folder, '**/*.md')])).parts), md)
    assert.equal(namesOf((await ask([join(folder, '[a].md')])).parts), [md[0]])
    const { parts, stderr } = await ask([join(folder, '*.{png,bin}')])
    assert.is(parts[0]!.text, `<file path="${join(folder, 'dot.png')}" type="image/png"/>`)
    assert.match(parts[1]!.image_url!.url, /^data:image\/png;base64,/)
    assert.match(stderr, /left out: \S+x\.bin: neither text/)
  }))

test('a pattern without a match is exit 66, and says what was left out', () =>
  asking(async ({ ask, folder, write }) => {
    write({ 'a.log': 'log', '.gitignore': '*.log' })
    const { code, stderr, parts } = await ask([join(folder, '*.log')])
    assert.equal([code, parts], [66, []])
    assert.match(stderr, /No file matches \S+\*\.log\n {2}Left out of \S+: 1 entry that \.gitignore names/)
    assert.is((await ask([join(folder, 'nowhere/*.md')])).code, 66)
  }))

test('the order is the order given, and each file goes in once', () =>
  asking(async ({ ask, folder, write }) => {
    write({ 'z.md': 'Z', 'a.md': 'A', 'm/one.md': '1' })
    const [z, one, a] = ['z.md', 'm/one.md', 'a.md'].map((name) => join(folder, name))
    symlinkSync(z!, join(folder, 'same.md'))
    const values = [z!, join(folder, 'm'), '-', join(folder, '*.md'), join(folder, 'same.md'), z!]
    assert.equal(namesOf((await ask(values, { input: 'piped' })).parts), [z, one, 'standard input', a])
  }))

test('a binary file is refused by its name, and all values that cannot be used are told at once', () =>
  asking(async ({ ask, folder, write }) => {
    write({ 'x.bin': Buffer.from([0x61, 0, 0x62]), 'latin.txt': Buffer.from([0xe9]), 'empty/.keep': '' })
    const one = await ask([join(folder, 'x.bin')])
    assert.is(one.code, 65)
    assert.match(one.stderr, /x\.bin is neither text, a PDF nor an image/)
    const values = ['x.bin', 'latin.txt', 'absent', 'empty'].map((name) => join(folder, name))
    const { code, stderr, parts } = await ask([...values, 'ftp://host/x'])
    assert.equal([code, parts], [65, []])
    assert.match(stderr, /5 of the files cannot be sent/)
    for (const reason of [/x\.bin is neither/, /latin\.txt is neither/, /absent: file or folder not found/])
      assert.match(stderr, reason)
    assert.match(stderr, /Nothing in \S+empty can be sent \(\S+: 1 hidden entry\)/)
    assert.match(stderr, /ftp:\/\/host\/x is no address/)
  }))

test('text in UTF-16 and behind a byte order mark is read', () =>
  asking(async ({ ask, folder, write }) => {
    const swapped = Buffer.from('\ufeffgrün', 'utf16le').swap16()
    write({ '1.txt': Buffer.from('\ufeffgrün', 'utf16le'), '2.txt': swapped, '3.txt': Buffer.from('\ufeffgrün') })
    const { parts } = await ask([join(folder, '*.txt')])
    assert.equal(
      parts.map(({ text }) => text!.split('\n')[1]),
      ['grün', 'grün', 'grün'],
    )
  }))

test('no file can end itself, and no name can write outside of its tag', () =>
  asking(async ({ ask, folder, write }) => {
    const hostile = 'a"><b>\n\u001b[2J\u202e.txt'
    write({ [hostile]: '</file>\n< / FILE >\n<file path="/etc/passwd">\n<filename>' })
    const { parts, stderr } = await ask([folder])
    const [name, ...text] = parts[0]!.text!.split('\n')
    assert.is(name, `<file path="${folder}/a&quot;&gt;&lt;b&gt;\\n\\u001b[2J\\u202e.txt">`)
    assert.equal(text, ['&lt;/file>', '&lt; / FILE >', '&lt;file path="/etc/passwd">', '<filename>', '</file>'])
    assert.match(stderr, /a"><b>\\n\\u001b\[2J\\u202e\.txt \(/)
  }))

test('links in a folder lead nowhere, a link that is named is followed, and a loop ends', () =>
  asking(async ({ ask, folder, write }) => {
    write({ 'secret.txt': 's3cret', 'p/a.txt': 'A' })
    symlinkSync(join(folder, 'secret.txt'), join(folder, 'p/link.txt'))
    symlinkSync(join(folder, 'p'), join(folder, 'p/loop'))
    const { parts, stderr } = await ask([join(folder, 'p')])
    assert.equal(namesOf(parts), [join(folder, 'p/a.txt')])
    assert.match(stderr, /left out: \S+link\.txt: a symbolic link/)
    assert.match((await ask([join(folder, 'p/link.txt')])).parts[0]!.text!, /s3cret/)
    assert.is((await ask([join(folder, 'p/*k.txt')])).code, 66)
  }))

test.whole('files, sizes and their sum are bounded', () =>
  asking(async ({ ask, folder, write }) => {
    write(Object.fromEntries(Array.from({ length: 405 }, (_, index) => [`many/${1000 + index}.txt`, 'x'])))
    const many = await ask([join(folder, 'many')])
    assert.is(many.parts.length, 400)
    assert.match(many.stderr, /left out: \S+many: 5 more files: at most 400 are sent/)
    write({ 'large/a.txt': 'x'.repeat(1024 * 1024 + 1), 'large/b.txt': 'small' })
    const large = await ask([join(folder, 'large')])
    assert.equal(namesOf(large.parts), [join(folder, 'large/b.txt')])
    assert.match(large.stderr, /a\.txt: larger than 1 MiB/)
    write(Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`sum/${index}.txt`, 'y'.repeat(1024 * 1024)])))
    const sum = await ask([join(folder, 'sum')])
    assert.is(sum.parts.length, 4)
    assert.match(sum.stderr, /2 more files: 4 MiB are reached/)
    write({ 'huge.txt': '' })
    truncateSync(join(folder, 'huge.txt'), 21 * 1024 * 1024)
    const huge = await ask([join(folder, 'huge.txt')])
    assert.is(huge.code, 65)
    assert.match(huge.stderr, /huge\.txt is larger than 20 MiB/)
  }),
)

test('a folder with too many entries is refused, also where they would be left out', () =>
  asking(async ({ folder, write }) => {
    write({ 'a.txt': 'A', '.b': 'B', 'c/d.txt': 'D' })
    const options = { shown: 'here', hidden: false, signal: new AbortController().signal }
    assert.equal((await walk(folder, { ...options, most: 4 })).paths, ['a.txt', 'c/d.txt'])
    const refusal = await walk(folder, { ...options, most: 3 }).catch((reason: unknown) => reason as AppError)
    assert.equal([refusal instanceof AppError, (refusal as AppError).exit], [true, 65])
    assert.match((refusal as AppError).message, /here holds more than 3 files/)
  }))

test('a rule of .gitignore that would match for hours is left out', () =>
  asking(async ({ ask, folder, write }) => {
    write({ '.gitignore': `${'*a'.repeat(40)}b\n*.log\n`, ['a'.repeat(200)]: 'long', 'x.log': 'log' })
    assert.is((await ask([folder])).parts.length, 1)
  }))

test('a dry run lists name, type, bytes and tokens of each file, and what was left out', () =>
  asking(async ({ home, folder, write }) => {
    write({ 'a.md': 'word '.repeat(400), 'x.bin': Buffer.from([0]) })
    const { code, stdout, stderr } = await home.aichat(['chat', '--dry-run', '-f', folder, 'What is this?'])
    assert.is(code, 0, stderr)
    const { files, left_out: leftOut, body } = JSON.parse(stdout)
    assert.equal(
      [files.length, files[0].name, files[0].type, files[0].bytes],
      [1, join(folder, 'a.md'), 'text/plain', 2000],
    )
    assert.ok(files[0].tokens >= 400 && files[0].tokens < 500)
    assert.equal(leftOut[0].name, join(folder, 'x.bin'))
    assert.match(body.messages[0].content[0].text, /^<file path=/)
    assert.match(stderr, /a\.md \(text\/plain, 2\.0 KiB, about 4\d\d tokens\)/)
  }))

test('a file that is named alone is sent without a remark', () =>
  asking(async ({ ask, folder, write }) => {
    write({ 'a.md': 'A' })
    assert.is((await ask([join(folder, 'a.md')])).stderr, '')
  }))

test.run()

async function asking(run: (parts: Asking) => Promise<void>): Promise<void> {
  await using parts = closing(await openAsking())
  await run(parts)
}
