// Some with --all only: many processes.
import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { toolServerCommand } from '../../helpers/mcp/stdio-server.ts'
import { pluck } from '../../helpers/pluck.ts'
import { processGone } from '../../helpers/program/pseudo-terminal.ts'
import { suite } from '../../helpers/suite.ts'
import { type ShownTalk, scene, sizes } from './talk-scene.ts'

const test = suite('the commands of a conversation')

/** Types a line and waits for its output and the next prompt. */
async function say(shown: ShownTalk, line: string, pattern: RegExp): Promise<void> {
  shown.type(`${line}\r`)
  await shown.until(new RegExp(`${pattern.source}[\\s\\S]*\\n> $`))
}

/** A program of this name, which writes its input to a file. */
function programIn(folder: string, name: string, then = ''): string {
  const file = join(folder, `${name}-input`)
  writeFileSync(join(folder, name), `#!/bin/sh\necho $$ > '${file}-pid'\ncat > '${file}'\n${then}\n`)
  chmodSync(join(folder, name), 0o755)
  return file
}

for (const size of sizes)
  test(`an unknown command is refused and never sent; two slashes or a space send one, at ${size.join('x')}`, () =>
    scene(async ({ talk, provider, asked }) => {
      const shown = await talk([], { size })
      await say(shown, '/modle gpt', /Unknown\s+command\s+\/modle;\s+did\s+you\s+mean\s+\/model\?/)
      await say(shown, '/usr/bin/env: not found', /Unknown\s+command\s+\/usr\/bin\/env:/)
      assert.is(provider.received.length, 0)
      await say(shown, '//model is a word', /heard: \/model is a word/)
      await say(shown, ' /tmp is full', /heard: \/tmp is full/)
      assert.equal(asked(), ['/model is a word', '/tmp is full'])
      await say(shown, ' exit', /heard: exit/)
      await say(shown, '/help', /\/persona \[NAME\]/)
      await say(shown, '/? /undo', /\/undo\s+take the last question/)
      shown.type('/exit\r')
      assert.equal(await shown.ended(), { code: 0, restored: true })
      for (const word of ['exit', 'quit']) {
        const again = await talk([], { size })
        again.type(`${word}\r`)
        assert.equal(await again.ended(), { code: 0, restored: true }, word)
      }
    }))

test('/model, /system and /set change what the next question is asked with', () =>
  scene(async ({ talk, provider }) => {
    const shown = await talk()
    const body = () => JSON.parse(provider.received.at(-1)!.body)
    shown.type('/model\r')
    await shown.until(/Which model\?[\s\S]*custom-model\n[\s\S]*other-model/)
    shown.type('other')
    await shown.until(/Which model\? other\n\S other-model\n(?!.*custom-model)/)
    shown.type('\r')
    await shown.until(/from now on custom:other-model is asked[\s\S]*> $/)
    await say(shown, '/model custom-model', /from now on custom:custom-model is asked/)
    await say(shown, '/model custom:other-model', /from now on custom:other-model is asked/)
    await say(shown, '/set temperature=0.5', /asked/)
    await say(shown, '/set temperature=hot', /temperature/)
    await say(shown, '/set memory=maybe', /memory is on or off/)
    await say(shown, '/set nonsense', /Write KEY=VALUE/)
    await say(shown, '/set', /memory=on[\s\S]*temperature=0\.5/)
    await say(shown, '/system Be brief.', /the system prompt is set/)
    await say(shown, 'one', /heard: one/)
    assert.equal([body().model, body().temperature], ['other-model', 0.5])
    assert.equal(body().messages[0], { role: 'system', content: 'Be brief.' })
    await say(shown, '/system', /\nBe brief\./)
    await say(shown, '/system -', /no system prompt from now on/)
    await say(shown, '/set temperature=', /temperature is left to the model/)
    await say(shown, 'two', /heard: two/)
    assert.equal([body().temperature, body().messages[0].role], [undefined, 'user'])
    await shown.leave()
  }))

test('/retry replaces the last answer and /undo takes the exchange away, in the saved session too', () =>
  scene(async ({ talk, sent, saved }) => {
    const shown = await talk()
    await say(shown, '/undo', /Nothing was asked in the session/)
    await say(shown, 'first', /heard: first/)
    await say(shown, 'AGAIN please', /answer 1/)
    await say(shown, '/retry', /answer 2/)
    assert.equal(sent(), [
      ['user', 'first'],
      ['assistant', 'heard: first'],
      ['user', 'AGAIN please'],
    ])
    await say(shown, '/undo', /taken away: "AGAIN please"/)
    await say(shown, 'last', /heard: last/)
    await say(shown, '/save Rome', /saved as "Rome"/)
    await say(shown, '/save', /saved as "Rome"/)
    await shown.leave()
    const [session] = await saved()
    assert.is(session!.name, 'Rome')
    assert.equal(session!.messages, [
      ['user', 'first', false],
      ['assistant', 'heard: first', false],
      ['user', 'last', false],
      ['assistant', 'heard: last', false],
    ])
  }))

test('a /retry that is stopped before its first word leaves what was there, an answer or a question without one', () =>
  scene(async ({ talk, saved, provider }) => {
    const shown = await talk()
    const stop = async (typed: string, told: RegExp) => {
      const { length } = provider.received
      shown.type(`${typed}\r`)
      while (provider.received.length === length) await new Promise((resolve) => setImmediate(resolve))
      shown.type('\x03')
      await shown.until(told)
    }
    const kept = async () => (await saved())[0]!.messages.map(([, content]) => content)
    await say(shown, 'ONCE', /heard: ONCE/)
    await stop('/retry', /stopped before the answer began; the answer before stays\n> $/)
    assert.equal(await kept(), ['ONCE', 'heard: ONCE'])
    await stop('SILENT', /stopped before the answer began; the question stays[\s\S]*\/retry asks it again\n> $/)
    await stop('/retry', /\/retry asks it again[\s\S]*\/retry asks it again\n> $/)
    assert.equal(await kept(), ['ONCE', 'heard: ONCE', 'SILENT'])
    await say(shown, '/undo', /taken away: "SILENT"/)
    await shown.leave()
    assert.equal(await kept(), ['ONCE', 'heard: ONCE'])
  }))

test('/file puts files before the next question alone; a wrong one is told, and nothing is attached', () =>
  scene(async ({ talk, asked, home: { folder } }) => {
    writeFileSync(join(folder, 'my notes.md'), 'of Ada')
    const shown = await talk()
    await say(shown, `/file ${folder}/none.md`, /not found|Cannot read/)
    await say(shown, '/file "open', /A quotation mark is not closed/)
    await say(shown, '/file', /no files go with the next question/)
    await say(shown, `/file '${folder}/my notes.md'`, /1 file with the next question/)
    await say(shown, 'Who?', /heard: <file/)
    assert.match(JSON.stringify(asked().at(-1)), /of Ada/)
    await say(shown, 'And?', /heard: And\?/)
    assert.is(asked().at(-1), 'And?')
    await shown.leave()
  }))

test('/persona begins a conversation with her, /sessions goes back, /clear begins anew', () =>
  scene(async ({ talk, home, saved, sent }) => {
    await home.aichat(['persona', 'create', '--name', 'Mia', '-m', 'custom-model', '--prompt', 'You are Mia.'])
    const shown = await talk()
    await say(shown, 'plain', /heard: plain/)
    await say(shown, '/save Plain', /saved as "Plain"/)
    await say(shown, '/persona Mai', /Persona "Mai" not found; did you mean Mia\?/)
    await say(shown, '/persona Mia', /a new conversation with Mia/)
    await say(shown, 'hers', /heard: hers/)
    assert.match(JSON.stringify(sent()[0]), /Mia/)
    assert.not.match(JSON.stringify(sent()), /plain/)
    shown.type('/sessions\r')
    await shown.until(/Which conversation\?[\s\S]*Plain {2}(?:today|yesterday) \d+:\d\d, 2 messages/)
    shown.type('\x03')
    await shown.until(/stopped\n> $/)
    await say(shown, '/sessions Nowhere', /Session "Nowhere" not found/)
    await say(shown, '/sessions Plain', /going on with "Plain"\n> plain \(.*\)\n+heard: plain\n/)
    await say(shown, 'more', /heard: more/)
    assert.equal(
      sent().map(([, content]) => content),
      ['plain', 'heard: plain', 'more'],
    )
    shown.type('/clear\r')
    await shown.until(/^(?!.*heard: more)[\s\S]*> $/)
    await say(shown, 'anew', /heard: anew/)
    assert.equal(sent(), [['user', 'anew']])
    await shown.leave()
    assert.is((await saved()).length, 3)
  }))

test('who goes on with a conversation sees its last question and answer, and how many messages are before them', () =>
  scene(async ({ talk }) => {
    const shown = await talk(['-s', 'Journey'])
    await say(shown, 'first', /heard: first/)
    await say(shown, 'second', /heard: second/)
    await shown.leave()
    const again = await talk(['-c'])
    const screen = (await again.screen()).join('\n')
    assert.match(screen, /2 earlier messages: aichat session show "Journey"\n> second \(.*\)\n+heard: second\n/)
    assert.not.match(screen, /heard: first/)
    await again.leave()
    const quiet = await talk(['-c', '--quiet'])
    assert.not.match((await quiet.screen()).join('\n'), /heard: second/)
    await quiet.leave()
  }))

test('/undo names the words of a question, not its files', () =>
  scene(async ({ talk, home: { folder } }) => {
    writeFileSync(join(folder, 'a.txt'), 'text of the file')
    const shown = await talk()
    await say(shown, `/file ${join(folder, 'a.txt')}`, /1 file with the next question/)
    await say(shown, 'What is this?', /heard: [\s\S]*What is this\?/)
    await say(shown, '/undo', /taken away: "What is this\?"/)
    await shown.leave()
  }))

test('/save keeps a conversation where the settings keep none, and is refused with --no-log', () =>
  scene(async ({ talk, saved }) => {
    const off = await talk([], { environment: { AICHAT_CHAT_KEEP: 'off' } })
    await say(off, 'hello', /heard: hello/)
    await say(off, '/save', /is not kept; \/save NAME keeps it/)
    await say(off, '/save Trip', /saved as "Trip"/)
    await off.leave()
    assert.equal(pluck(await saved(), 'name'), ['Trip'])
    const without = await talk(['--no-log'])
    await say(without, 'secret', /heard: secret/)
    await say(without, '/save Secret', /--no-log keeps nothing/)
    await without.leave()
    assert.is((await saved()).length, 1)
  }))

test.whole('/speak plays the last answer, and Ctrl-C stops the player', () =>
  scene(async ({ talk, home: { folder } }) => {
    const pipe = join(folder, 'playing')
    spawnSync('mkfifo', [pipe])
    const file = programIn(folder, 'paplay', `echo > '${pipe}'\nexec sleep 1000`)
    const shown = await talk([], { environment: { PATH: `${folder}:${process.env['PATH']}` } })
    await say(shown, 'hello there', /heard: hello there/)
    shown.type('/speak\r')
    await readFile(pipe)
    assert.is(readFileSync(file).subarray(0, 4).toString(), 'RIFF')
    shown.type('\x03')
    await shown.until(/aichat: stopped\n> $/)
    await processGone(Number(readFileSync(`${file}-pid`, 'utf8')))
    await shown.leave()
  }),
)

test.whole('/info tells model, plugin, session and tokens, and /tools what the model may call', () =>
  scene(async ({ talk, home }) => {
    const plain = await talk()
    await say(plain, '/tools', /no tools; start with aichat chat --mcp NAME/)
    await say(plain, '/info', /Tokens +none yet/)
    await say(plain, 'one', /heard: one/)
    await say(plain, 'two', /heard: two/)
    await say(plain, '/info', /Tokens +14 sent, 6 received, in 2 answers/)
    const text = (await plain.screen()).join('\n')
    assert.match(text, /Model +custom-model\nPlugin +custom\n/)
    assert.match(text, /Session +.* \(4 messages\)/)
    await plain.leave()
    assert.is((await home.aichat(['mcp', 'add', 'tools', '--', ...toolServerCommand])).code, 0)
    const shown = await talk(['--mcp', 'tools'], { begun: /> $/ })
    await say(shown, '/tools', /tools__echo/)
    await shown.leave()
  }),
)

test.run()
