import * as assert from 'uvu/assert'
import { manualPages } from '../../../src/cli/help/pages.ts'
import { runMain } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('the manual')
const pages = manualPages()

test('aichat help prints a page as it is into a pipe, by its name or a part that is no command', async () => {
  const memory = pages.find(({ name }) => name === 'aichat-memory')!
  for (const topic of ['aichat-memory', 'memory']) {
    const { code, stdout } = await runMain(['help', topic])
    assert.equal([code, stdout], [0, memory.text])
  }
  const { code, stdout } = await runMain(['help', 'persona'])
  assert.is(code, 0)
  assert.match(stdout, /^Usage: aichat persona [\s\S]*\nManual: aichat help aichat-persona\n$/)
})

test('a page is rendered at a terminal', async () => {
  const { code, stdout } = await runMain(['help', 'machines'], { shown: true, environment: { TERM: 'xterm' } })
  assert.is(code, 0)
  assert.not.match(stdout, /^#+ |```/m)
  assert.match(stdout, /\x1b\[[\d;]*m.*Moving the data/)
})

test('aichat help manual lists each page', async () => {
  const { stdout } = await runMain(['help', 'manual'])
  for (const { name, section, title } of pages) {
    assert.ok(stdout.includes(`${name}(${section})`), name)
    assert.ok(stdout.includes(title), title)
  }
})

test('aichat help --search finds lines of all pages, whatever their case', async () => {
  const { code, stdout } = await runMain(['help', '--search', 'pgbouncer'])
  assert.is(code, 0)
  assert.match(stdout, /^aichat-machines: PgBouncer works in transaction mode/m)
  const nothing = await runMain(['help', '--search', 'no such words'])
  assert.equal([nothing.code, nothing.stdout], [67, ''])
  assert.match(nothing.stderr, /No page of the manual contains "no such words"/)
})

test('each page begins with an example, and has no paragraph of more than 1,000 characters', () => {
  for (const { name, text } of pages) {
    const [opening = ''] = text.split('\n## ')
    assert.match(opening, /^```(?:sh|json)$/m, name)
    for (const line of text.split('\n')) assert.ok(line.startsWith('|') || line.length <= 1_000, `${name}: ${line}`)
  }
})

test('no sentence stands in two pages', () => {
  const seen = new Map<string, string>()
  for (const { name, text } of pages)
    for (const sentence of text.replace(/```[\s\S]*?```/g, '').split(/(?<=[.!?:])\s|\n/)) {
      if (sentence.length < 40 || /^\|/.test(sentence)) continue
      assert.is(seen.get(sentence) ?? name, name, sentence)
      seen.set(sentence, name)
    }
})

test('links between pages lead to a page', () => {
  for (const { name, text } of pages)
    for (const [, label, target] of text.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)) {
      const page = pages.find((other) => `${other.name}.md` === target)
      assert.is(page && `${page.name}(${page.section})`, label, `${name}: ${target}`)
    }
})

test.run()
