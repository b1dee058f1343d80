import * as assert from 'uvu/assert'
import { toolServerCommand } from '../../helpers/mcp/stdio-server.ts'
import { suite } from '../../helpers/suite.ts'
import { scene, sizes } from './talk-scene.ts'

const test = suite('Ctrl-C in a conversation')

for (const size of sizes) {
  const at = `at ${size.join('x')}`

  test(`before the first word keeps the question alone, and at the prompt drops only what is typed, ${at}`, () =>
    scene(async ({ talk, silent, saved, asked }) => {
      const shown = await talk([], { size })
      shown.type('SILENT\r')
      await silent
      shown.type('\x03')
      await shown.until(/stopped before the answer began[\s\S]*\n> $/)
      shown.type('half a line')
      await shown.until(/> half a line$/)
      shown.type('\x03')
      await shown.until(/> half a line\n> $/)
      shown.type('whole\r')
      await shown.until(/heard: whole[\s\S]*\n> $/)
      assert.equal(asked(), ['SILENT', 'whole'])
      await shown.leave()
      assert.equal(
        (await saved())[0]!.messages.map(([, content]) => content),
        ['SILENT', 'whole', 'heard: whole'],
      )
    }))

  test(`in the text keeps what was said, marked as cut, at once, ${at}`, () =>
    scene(async ({ talk, saved, sent }) => {
      const shown = await talk([], { size })
      shown.type('ENDLESS\r')
      await shown.until(/Once upon/)
      shown.type('\x03')
      await shown.until(/stopped; the text so far[\s\S]*\n> $/)
      // Another process reads it while the conversation goes on.
      assert.equal((await saved())[0]!.messages, [
        ['user', 'ENDLESS', false],
        ['assistant', 'Once upon **a** time', true],
      ])
      shown.type('shorter\r')
      await shown.until(/heard: shorter[\s\S]*\n> $/)
      assert.match(String(sent()[1]![1]), /^Once upon \*\*a\*\* time\n\n\[.*cut off.*\]$/)
      await shown.leave()
    }))

  test(`in a call of a tool, and in our question about one, stops the answer, ${at}`, () =>
    scene(async ({ talk, home, saved }) => {
      assert.is((await home.aichat(['mcp', 'add', 'tools', '--', ...toolServerCommand])).code, 0)
      assert.is((await home.aichat(['mcp', 'allow', 'tools', 'slow'])).code, 0)
      const shown = await talk(['--mcp', 'tools'], { size })
      shown.type('CALL tools__slow\r')
      await shown.until(/tools: slow/)
      shown.type('\x03')
      await shown.until(/stopped; the text so far[\s\S]*\n> $/)
      shown.type('CALL tools__echo\r')
      await shown.until(/Call it\?[\s\S]*ne\(v\)er:/)
      shown.type('\x03')
      await shown.until(/Call it\?[\s\S]*stopped;[\s\S]*\n> $/)
      shown.type('go on\r')
      await shown.until(/heard: go on[\s\S]*\n> $/)
      await shown.leave()
      assert.equal(
        (await saved())[0]!.messages.filter(([, , cut]) => cut).map(([, content]) => content.trim()),
        ['I look.', 'I look.'],
      )
    }))

  test(`a window that changes its size in the middle of an answer goes on in the new one, ${at}`, () =>
    scene(async ({ talk }) => {
      const shown = await talk([], { size })
      shown.type('ENDLESS\r')
      await shown.until(/Once upon a time/)
      shown.resize(30, 12)
      shown.type('\x03')
      await shown.until(/stopped; [\s\S]*\n> $/)
      const text = (await shown.screen()).join('\n')
      assert.is(text.match(/Once upon/g)!.length, 1, text)
      shown.type('x'.repeat(40))
      await shown.until(/> x{28}\nx{12}$/)
      shown.type('\x03')
      await shown.leave()
    }))
}

test.run()
