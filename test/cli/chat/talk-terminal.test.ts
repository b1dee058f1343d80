// With --all only: a terminal.
import xterm from '@xterm/headless'
import * as assert from 'uvu/assert'
import { toolServerCommand } from '../../helpers/mcp/stdio-server.ts'
import { hasPseudoTerminal, openTerminal, processGone } from '../../helpers/program/pseudo-terminal.ts'
import { suite } from '../../helpers/suite.ts'
import { scene } from './talk-scene.ts'

const inner = suite('a conversation at a terminal of the system')
const test = hasPseudoTerminal ? inner : inner.skip
const isProcess = true

/** The messages of a tale that was stopped. */
const endlessTale = [
  ['user', 'ENDLESS', false],
  ['assistant', 'Once upon **a** time', true],
] as const

test('edits a text, follows the size of the window, stops an answer, and asks about a tool', () =>
  scene(async ({ talk, home, asked, saved }) => {
    assert.is((await home.aichat(['mcp', 'add', 'tools', '--', ...toolServerCommand])).code, 0)
    const shown = await talk(['--mcp', 'tools'], { isProcess, begun: /> $/ })
    shown.type('world\x01hello \x1b[Fx\x7f!\r')
    await shown.until(/heard: hello world![\s\S]*\n> $/)
    shown.type('\x1b[200~first\nsecond\x1b[201~\r')
    await shown.until(/heard: first\s+second[\s\S]*\n> $/)
    assert.is(asked().at(-1), 'first\nsecond')
    shown.type('x'.repeat(40))
    await shown.until(/> x{40}$/)
    shown.resize(30, 12)
    await shown.until(/> x{28}\nx{12}$/)
    shown.type('\x03')
    shown.type('CALL tools__echo\r')
    await shown.until(/Call it\?[\s\S]*ne\(v\)er:/)
    shown.type('\x03')
    await shown.until(/stopped;[\s\S]*\n> $/)
    shown.type('ENDLESS\r')
    await shown.until(/Once upon a time/)
    shown.type('\x03')
    await shown.until(/Once upon a time[\s\S]*stopped; [\s\S]*\n> $/)
    await shown.leave()
    assert.equal((await saved())[0]!.messages.slice(-2), endlessTale)
  }))

for (const [signal, code] of [
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)
  test(`${signal} while a text is edited leaves the terminal as it was`, () =>
    scene(async ({ talk }) => {
      const shown = await talk([], { isProcess })
      shown.type('half')
      await shown.until(/> half$/)
      shown.signal(signal)
      assert.equal(await shown.ended(), { code, restored: true }, shown.shown())
    }))

test('a terminal that closes ends the conversation and the request, and the answer so far is kept', () =>
  scene(async ({ home, saved, environment }) => {
    const terminal = await openTerminal(home.folder, ['chat'], environment)
    await terminal.shows(/> $/)
    terminal.type('ENDLESS\r')
    await terminal.shows(/Once upon/)
    const { pid } = terminal
    terminal.hangUp()
    await processGone(pid)
    assert.equal((await saved())[0]!.messages, endlessTale)
  }))

test('Ctrl-Z stops the job with the terminal restored, and fg goes on', () =>
  scene(async ({ home, asked, environment }) => {
    const terminal = await openTerminal(home.folder, ['chat'], environment, {
      script: (command, file) => `set -m\n${command}\nstty -g > '${file('stopped')}'\necho stopped\nfg`,
    })
    await terminal.shows(/Ctrl-D ends the conversation\.\s+> $/)
    terminal.type('half')
    await terminal.shows(/half$/)
    terminal.type('\x1a')
    await terminal.shows(/stopped[\s\S]*> half$/)
    assert.is(terminal.text('stopped'), terminal.text('before'))
    terminal.type(' a line\r')
    await terminal.shows(/heard: half a line[\s\S]*> $/)
    assert.equal(asked(), ['half a line'])
    const screen = new xterm.Terminal({ cols: 80, rows: 200, allowProposedApi: true })
    await new Promise<void>((resolve) => screen.write(terminal.shown(), resolve))
    const lines = Array.from({ length: 200 }, (_, at) => screen.buffer.active.getLine(at)!.translateToString(true))
    // The shell's own remark goes on in the line that was left.
    assert.equal(
      lines.filter((line) => line.includes('> half')),
      ['> halfstopped', '> half a line'],
      lines.join('\n'),
    )
    terminal.type('\x04')
    assert.equal(await terminal.ended(), { code: 0, restored: true }, terminal.shown())
  }))

inner.run()
