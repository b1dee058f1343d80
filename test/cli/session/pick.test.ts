import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openApp } from '../../../src/app/app.ts'
import { readSettings } from '../../../src/settings/settings.ts'
import { suite } from '../../helpers/suite.ts'
import { openShown, scene, sizes, type TalkScene } from '../chat/talk-scene.ts'

const test = suite('choosing a conversation')

/** Keeps three conversations, and opens a command at a terminal. */
async function furnished({ home }: TalkScene): Promise<void> {
  for (const name of ['Trip to Rome', 'Trip to Oslo', 'Cello'])
    assert.is((await home.aichat(['chat', '-s', name, 'one'])).code, 0)
}

for (const size of sizes)
  test(`aichat session alone is a picker that filters while one types, in ${size.join('×')}`, () =>
    scene(async (made) => {
      await furnished(made)
      const shown = await openShown(made.home.folder, ['session'], made.environment, size, false)
      await shown.until(/Which conversation\?[\s\S]*Cello {2}(?:today|yesterday) \d+:\d\d/)
      shown.type('rome tr')
      await shown.until(/Which conversation\? rome tr\n\S Trip to Rome {2}.*\n(?![\s\S]*Oslo)/)
      shown.type('\r')
      await shown.until(/ends the\s+conversation\.\n> one[\s\S]*heard: one[\s\S]*\n> $/)
      shown.type('two\r')
      await shown.until(/heard: two[\s\S]*> $/)
      assert.equal(made.asked(), ['one', 'two'])
      shown.type('\x04')
      await shown.until(/Trip to Rome · 1 turn/)
      assert.equal(await shown.ended(), { code: 0, restored: true })
    }))

test('of more than a hundred conversations, the older ones are found by the words of their names, in 20 columns too', () =>
  scene(async ({ home, environment, asked }) => {
    const app = await openApp(readSettings({ AICHAT_HOME: home.folder, HOME: home.folder, ...environment }))
    const { conversations } = await app.personas()
    for (let number = 0; number <= 101; number++) {
      const made = await conversations.create('local', { name: `${number === 0 ? 'Élan' : 'talk'} number ${number}` })
      await conversations.add(made, [{ message: { role: 'user', content: `question ${number}` } }])
    }
    await app.close()
    const shown = await openShown(home.folder, ['session'], environment, [20, 10], false)
    await shown.until(/^\? Which conversation\n?\?\s+❯ talk number \d+/)
    shown.type('number é')
    await shown.until(/^\? Which conversation\n?\?\s+number\s+é\s+❯ Élan number 0.*\n(?!.*talk)/)
    shown.type('\r')
    await shown.until(/conversation\.\n> question 0[\s\S]*\n> $/)
    shown.type('go on\r')
    await shown.until(/heard: go on[\s\S]*> $/)
    assert.equal(asked(), ['question 0', 'go on'])
    shown.type('\x04')
    assert.equal(await shown.ended(), { code: 0, restored: true })
  }))

test('-c without a text asks as well, Ctrl-C leaves, and the only conversation is not asked about', () =>
  scene(async (made) => {
    const { home, environment } = made
    await home.aichat(['chat', 'one'])
    const only = await made.talk(['-c'])
    await only.leave()
    await furnished(made)
    const shown = await openShown(home.folder, ['chat', '-c'], environment, sizes[0]!, false)
    await shown.until(/Which conversation\?[\s\S]*Cello/)
    shown.type('\x03')
    assert.equal(await shown.ended(), { code: 130, restored: true })
  }))

test('in a pipe both are as before: a command is missing, and the latest goes on', () =>
  scene(async (made) => {
    await furnished(made)
    const alone = await made.home.aichat(['session'])
    assert.is(alone.code, 64)
    assert.match(alone.stderr, /aichat session needs a command: list, show, search/)
    const piped = await made.home.aichat(['chat', '-c'], { input: 'two' })
    assert.is(piped.code, 0)
    assert.match(piped.stderr, /continuing "Cello"/)
  }))

test('a list says how many more there are', () =>
  scene(async (made) => {
    await furnished(made)
    const { stdout, stderr } = await made.home.aichat(['session', 'list', '-n', '1'])
    assert.is(stdout.trim().split('\n').length, 2)
    assert.is(stderr, 'aichat: and 2 more; -n 3 shows them\n')
  }))

test('a name is made of the first words that say something', () =>
  scene(async ({ home }) => {
    const nameOf = async (question: string) => {
      assert.is((await home.aichat(['chat', question])).code, 0)
      return JSON.parse((await home.aichat(['session', 'list', '-n', '1', '--json'])).stdout).sessions[0].name
    }
    assert.is(await nameOf('Hello, please can you explain monads to me?'), 'Explain monads to me?')
    assert.is(await nameOf('hi'), 'hi')
    assert.match(await nameOf('hi'), /^hi \(\d+ \w+\)$/)
    assert.is(await nameOf('Hi-fi speakers'), 'Hi-fi speakers')
    assert.is(
      await nameOf(`${'a'.repeat(20)} ${'b'.repeat(20)} ${'c'.repeat(20)}`),
      `${'a'.repeat(20)} ${'b'.repeat(20)}…`,
    )
  }))

test('a persona and a template without a name are picked at a terminal; elsewhere a sentence says what to name', () =>
  scene(async ({ home, environment }) => {
    for (const name of ['Ada', 'Bea'])
      assert.is((await home.aichat(['persona', 'create', '--name', name, '-m', 'custom-model'])).code, 0)
    for (const words of [['show'], ['profile']]) {
      const shown = await openShown(home.folder, ['persona', ...words], environment, sizes[0]!, false)
      await shown.until(/Which persona\?[\s\S]*Ada[\s\S]*Bea/)
      shown.type('be')
      await shown.until(/Which persona\? be\n\S Bea(?![\s\S]*Ada)/)
      shown.type('\r')
      assert.equal(await shown.ended(), { code: 0, restored: true })
      await shown.until(/Which persona\? Bea\n[\s\S]*(?:custom-model|no lines yet)/)
    }
    const { code, stderr } = await home.aichat(['persona', 'show'])
    assert.is(code, 64)
    assert.match(stderr, /Name a persona: aichat persona list shows them/)
    assert.is((await home.aichat(['persona', 'profile', 'Bea'])).code, 0)
    const folder = (await home.aichat(['template', 'path'])).stdout.trim()
    for (const name of ['formal', 'haiku'])
      writeFileSync(join(folder, `${name}.yaml`), `prompt: "as a ${name}: $input"\n`)
    const asked = await openShown(home.folder, ['chat', 'rain', '-t'], environment, sizes[0]!, false)
    await asked.until(/Which template\?[\s\S]*haiku/)
    asked.type('hai')
    await asked.until(/Which template\? hai\n\S haiku(?![\s\S]*formal)/)
    asked.type('\r')
    await asked.until(/heard: as a haiku: rain/)
    assert.is((await asked.ended()).code, 0)
  }))

test.run()
