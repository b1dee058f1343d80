import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { suite } from '../../helpers/suite.ts'
import { type ShownTalk, scene, sizes } from './talk-scene.ts'

const test = suite('the prompt of a conversation')

const [up, left, home, end, del, tab] = ['\x1b[A', '\x1b[D', '\x1b[H', '\x1b[F', '\x1b[3~', '\t']
const ctrl = (letter: string) => String.fromCharCode(letter.charCodeAt(0) & 0x1f)

/** The lines from the last one that begins with the mark. */
async function edited(talk: ShownTalk): Promise<readonly string[]> {
  const lines = await talk.screen()
  return lines.slice(lines.findLastIndex((line) => line.startsWith('>')))
}

for (const size of sizes)
  test(`edits as a shell does, in a window of ${size.join('x')}`, () =>
    scene(async ({ talk, asked }) => {
      const shown = await talk([], { size })
      for (const [keys, text] of [
        [`world${ctrl('a')}hello ${ctrl('e')}!`, 'hello world!'],
        [`one two${ctrl('w')}three`, 'one three'],
        [`world${ctrl('u')}hello ${ctrl('y')}`, 'hello world'],
        // Each is another text than the one before, whose answer is on the screen already.
        [`gone${ctrl('u')}stays`, 'stays'],
        [`kept gone${left.repeat(5)}${ctrl('k')}`, 'kept'],
        [`bc${home}a${end}d`, 'abcd'],
        [`abc${home}${del}\x1bfx`, 'bcx'],
        [`你好${left}\x7f吗`, '吗好'],
        [`gone${ctrl('u')}${ctrl('_')}`, 'gone'],
      ] as const) {
        shown.type(keys)
        shown.type('\r')
        await shown.until(new RegExp(`heard: ${text}\\n(?:aichat: saved.*\\n(?:.*\\n)?)?> $`))
        assert.is(asked().at(-1)!.trim(), text)
      }
      await shown.leave()
    }))

test('a long text takes the rows that it needs, and its cursor stands where it is', () =>
  scene(async ({ talk, asked }) => {
    const shown = await talk([], { size: [40, 10] })
    shown.type('x'.repeat(95))
    await shown.until(/x{40}\nx{17}$/)
    assert.equal(await edited(shown), [`> ${'x'.repeat(38)}`, 'x'.repeat(40), 'x'.repeat(17)])
    shown.type(home)
    shown.type('好')
    await shown.until(/> 好/)
    assert.equal(await edited(shown), [`> 好${'x'.repeat(36)}`, 'x'.repeat(40), 'x'.repeat(19)])
    const [line, column] = await shown.cursor()
    assert.equal([(await shown.screen())[line]!.slice(0, 3), column], ['> 好', 4])
    // A window that becomes narrower.
    shown.type(end)
    shown.resize(30, 10)
    await shown.until(/^x{9}$/m)
    assert.equal(await edited(shown), [`> 好${'x'.repeat(26)}`, 'x'.repeat(30), 'x'.repeat(30), 'x'.repeat(9)])
    shown.type('\r')
    await shown.until(/heard: [\s\S]*> $/)
    assert.equal(asked(), [`好${'x'.repeat(95)}`])
    await shown.leave()
  }))

test('a pasted text of many lines is shown and sent whole, with what is typed around it', () =>
  scene(async ({ talk, asked }) => {
    const shown = await talk([], { size: [40, 10] })
    const text = Array.from({ length: 30 }, (_, at) => `line ${at}`).join('\n')
    shown.type(`of all:${left}\x1b[200~${text}\n\x1b[201~`)
    await shown.until(/> of allline 0\n\. line 1\n[\s\S]*\. line 29:$/)
    shown.type('!\r')
    await shown.until(/heard: [\s\S]*> $/)
    assert.equal(asked(), [`of all${text}:!`])
    await shown.leave()
  }))

test('texts of several lines: a backslash, three quotes, Alt-Enter, and the editor', () =>
  scene(async ({ talk, asked, home: { folder } }) => {
    const editor = join(folder, 'editor')
    writeFileSync(
      editor,
      `#!/bin/sh\nprintf 'edited: ' > "$1.new"\ncat "$1" >> "$1.new"\necho second >> "$1.new"\nmv "$1.new" "$1"\n`,
    )
    chmodSync(editor, 0o755)
    const shown = await talk([], { environment: { EDITOR: editor } })
    const send = async (keys: string, text: string) => {
      shown.type(keys)
      shown.type('\r')
      await shown.until(new RegExp(`heard: ${text.replaceAll('\n', '\\s+')}\\s[\\s\\S]*> $`))
      assert.is(asked().at(-1), text)
    }
    await send('first\\\rsecond', 'first\nsecond')
    await send('"""\rone\r\rtwo\r"""', 'one\n\ntwo')
    await send('three\x1b\rfour', 'three\nfour')
    shown.type(`draft${ctrl('x')}${ctrl('e')}`)
    await shown.until(/> edited: draft\n\. second$/)
    await send('', 'edited: draft\nsecond')
    await shown.leave()
  }))

test('an editor that fails leaves the text, and without one it is said', () =>
  scene(async ({ talk, asked }) => {
    const failing = await talk([], { environment: { EDITOR: 'false' } })
    failing.type(`draft${ctrl('x')}${ctrl('e')}`)
    await failing.until(/the editor "false" failed\n> draft$/)
    failing.type('\r')
    await failing.until(/heard: draft/)
    assert.equal(asked(), ['draft'])
    await failing.leave()
    const none = await talk()
    none.type(`draft${ctrl('x')}${ctrl('e')}`)
    await none.until(/No editor is set: set EDITOR\n> draft$/)
    none.type('\x03')
    await none.leave()
  }))

test('what was typed comes back in the next conversation, line by line, by arrows', () =>
  scene(async ({ talk, asked, home: { folder } }) => {
    const first = await talk()
    for (const text of ['tell me of Rome', 'tell me\\\rof Paris', '/help model']) {
      first.type(`${text}\r`)
      await first.until(
        text.startsWith('/') ? /ask another model/ : new RegExp(`heard: ${text.split('\\')[0]}[\\s\\S]*> $`),
      )
    }
    await first.leave()
    const typed = join(folder, 'typed')
    const [file] = readdirSync(typed)
    assert.is(statSync(join(typed, file!)).mode & 0o777, 0o600)
    assert.is(statSync(typed).mode & 0o777, 0o700)
    const second = await talk()
    second.type(up)
    await second.until(/> \/help model$/)
    second.type(up)
    await second.until(/> of Paris$/)
    second.type('\x03')
    second.type(`${up.repeat(4)}\r`)
    await second.until(/heard: tell me of Rome[\s\S]*> $/)
    assert.equal(asked(), ['tell me of Rome'])
    await second.leave()
  }))

test('two terminals at once lose nothing of it; each persona has her own', () =>
  scene(async ({ talk, home }) => {
    await home.aichat(['persona', 'create', '--name', 'Mia', '-m', 'custom-model'])
    const one = await talk()
    const other = await talk()
    for (const [shown, text] of [
      [one, 'first'],
      [other, 'second'],
      [one, 'third'],
    ] as const) {
      shown.type(`${text}\r`)
      await shown.until(new RegExp(`heard: ${text}[\\s\\S]*> $`))
    }
    one.type('/persona Mia\r')
    await one.until(/a new conversation with Mia\n> $/)
    one.type(`${up}of hers\r`)
    await one.until(/heard: of hers[\s\S]*> $/)
    await one.leave()
    await other.leave()
    const files = readdirSync(join(home.folder, 'typed')).map((name) =>
      readFileSync(join(home.folder, 'typed', name), 'utf8'),
    )
    assert.equal(files.sort(), ['"first"\n"second"\n"third"\n"/persona Mia"\n', '"of hers"\n'])
  }))

test('a history that is off, not wanted or not ours is not written', () =>
  scene(async ({ talk, home: { folder, aichat } }) => {
    const typed = join(folder, 'typed')
    for (const [words, environment] of [
      [[], { AICHAT_CHAT_HISTORY: 'off' }],
      [['--no-log'], {}],
    ] as const) {
      const shown = await talk(words, { environment })
      shown.type(`kept nowhere\r`)
      await shown.until(/heard: kept nowhere[\s\S]*> $/)
      shown.type(up)
      await shown.until(/> kept nowhere$/)
      shown.type('\x03')
      await shown.leave()
      assert.throws(() => readdirSync(typed))
    }
    const shown = await talk()
    shown.type('/exit\r')
    await shown.ended()
    const path = join(typed, readdirSync(typed)[0]!)
    const other = join(folder, 'precious')
    writeFileSync(other, 'precious')
    for (const make of [() => symlinkSync(other, path), () => mkdirSync(path)]) {
      rmSync(path, { force: true, recursive: true })
      make()
      const refused = await talk([], { begun: /the history [\s\S]*is not used: it is no\s+regular\s+file\n> $/ })
      refused.type('hello\r')
      await refused.until(/heard: hello[\s\S]*> $/)
      await refused.leave()
    }
    assert.is(readFileSync(other, 'utf8'), 'precious')
    assert.is((await aichat(['config', 'set', 'chat.history', 'maybe'])).code, 78)
  }))

test('Tab completes commands, their arguments, and files', () =>
  scene(async ({ talk, home: { folder } }) => {
    writeFileSync(join(folder, 'notes one.md'), 'of Ada')
    mkdirSync(join(folder, 'noted'))
    const shown = await talk([], { size: [80, 24] })
    shown.type(`/mo${tab}`)
    await shown.until(/> \/model $/)
    shown.type(`other${tab}`)
    await shown.until(/> \/model other-model $/)
    shown.type(`\x15/s${tab}`)
    await shown.until(/save +sessions +set +speak +system\n> \/s$/)
    shown.type(`et reas${tab}`)
    await shown.until(/> \/set reasoning_effort=$/)
    shown.type(`h${tab}`)
    await shown.until(/> \/set reasoning_effort=high $/)
    shown.type(`\x15/file ${folder}/not${tab}`)
    await shown.until(/> \/file \S+\/note$/)
    shown.type(`${tab}`)
    await shown.until(/noted\/ +notes one\.md\n> \/file \S+\/note$/)
    shown.type(`s${tab}`)
    await shown.until(/\/notes\\ one\.md $/)
    shown.type('\x15/zz\t\x03')
    await shown.leave()
  }))

test.run()
