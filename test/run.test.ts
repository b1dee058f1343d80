// With --all only: many processes: each test starts the runner.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { suite } from './helpers/suite.ts'

const runner = fileURLToPath(new URL(`./run.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url))
const test = suite('npm test')

test('counts passed, failed and skipped tests, and exits 0 when nothing failed', () => {
  const { status, last } = run({
    'a.test.js': file("test('one', () => {}); test('two', () => {}); test.skip('three', () => {})"),
  })
  assert.is(last, '2 passed, 0 failed, 1 skipped')
  assert.is(status, 0)
})

test('fails when a test fails, and shows it', () => {
  const { status, last, output } = run({
    'a.test.js': file("test('the moon is cheese', () => { throw new Error('it is not') })"),
    'b.test.js': file("test('one', () => {})"),
  })
  assert.is(last, '1 passed, 1 failed, 0 skipped')
  assert.is(status, 1)
  assert.match(output, /the moon is cheese/)
})

test('fails for a file that runs nothing', () => {
  const { status, last } = run({
    'a.test.js': "import { suite } from 'uvu'\nconst test = suite('x')\ntest('never run', () => {})\n",
  })
  assert.is(last, '0 passed, 1 failed, 0 skipped')
  assert.is(status, 1)
})

test('fails for a before hook that throws, although uvu exits 0 then', () => {
  const { status, last } = run({
    'a.test.js': file(
      "test.before(() => { throw new Error('no ground') }); test('one', () => {}); test('two', () => {})",
    ),
  })
  assert.is(last, '0 passed, 2 failed, 0 skipped')
  assert.is(status, 1)
})

test('fails for a test that hangs, and ends it with its children', () => {
  const hang = "test('waits for ever', () => new Promise(() => { setInterval(() => {}, 1000) }))"
  const { status, output } = run({ 'a.test.js': file(hang) }, { AICHAT_TEST_LIMIT_MS: '1500' })
  assert.is(status, 1)
  assert.match(output, /Still running after 1\.5 s/)
})

test('fails for a file that does not load', () => {
  const { status } = run({ 'a.test.js': "import './absent.js'\n" })
  assert.is(status, 1)
})

test('fails when no file matches', () => {
  assert.is(run({ 'a.test.js': file("test('one', () => {})") }, {}, ['nothing-like-this']).status, 1)
})

test('runs files in shared processes, or each in one of its own', () => {
  const told = file("test('one', () => console.log('\\nnote: process ' + process.pid))")
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
  const files: Record<string, string> = Object.fromEntries(names.map((name) => [`${name}.test.js`, told]))
  const pids = (environment: Record<string, string>) => {
    const { status, output } = run(files, environment)
    assert.is(status, 0, output)
    return new Set(output.match(/note: process \d+/g)).size
  }
  assert.ok(pids({}) < 8)
  assert.is(pids({ AICHAT_TEST_ALONE: '1' }), 8)
  for (const name of names) files[`${name}.test.js`] = `// In a process of its own: it says its number.\n${told}`
  assert.is(pids({}), 8)
})

test('a file that ends its process or changes its environment does not reach the files after it', () => {
  const whole = file("test('one', () => { if (process.env['LEFT'] || process.exitCode) throw new Error('left') })")
  const files: Record<string, string> = {}
  for (const name of ['c', 'e', 'g', 'i', 'k']) files[`${name}.test.js`] = whole
  for (const name of ['b', 'd', 'f', 'h', 'j'])
    files[`${name}.test.js`] = file("test('one', () => { process.env['LEFT'] = 'yes' })")
  files['a.test.js'] = file("test('one', () => process.kill(process.pid, 'SIGKILL'))")
  const { last, output } = run(files)
  assert.is(last, '10 passed, 1 failed, 0 skipped', output)
})

test('runs the files with the word in their path', () => {
  const files = {
    'a.test.js': file("test('one', () => {})"),
    'b.test.js': file("test('two', () => { throw new Error() })"),
  }
  assert.is(run(files, {}, ['a.test']).last, '1 passed, 0 failed, 0 skipped')
})

test('leaves a file with a reason for --all out of the first tier, counts it by its reason, and runs it with --all or by its name', () => {
  const marked = `// With --all only: a browser: it takes pictures.\n${file("test('shown', () => {})")}`
  const partly = `// Some with --all only: a terminal.\n${file("test('one', () => {})")}`
  const files = { 'a.test.js': partly, 'b.test.js': marked, 'c.test.js': marked }
  const first = run(files)
  assert.is(first.last, '1 passed, 0 failed, 0 skipped')
  assert.match(first.output, '\n2 files run with --all only: a browser 2\nso do some tests of 1 files: a terminal 1\n')
  assert.is(run(files, {}, ['--all']).last, '3 passed, 0 failed, 0 skipped')
  assert.is(run(files, {}, ['b.test']).last, '1 passed, 0 failed, 0 skipped')
})

test('refuses a reason that is none, and an option that it does not have', () => {
  const slow = `// With --all only: it is slow.\n${file("test('one', () => {})")}`
  assert.is(run({ 'a.test.js': slow }).status, 1)
  assert.is(run({ 'a.test.js': file("test('one', () => {})") }, {}, ['--every']).status, 64)
})

test('with AICHAT_TEST_AGAIN a file that passes alone at the end is named as unsteady, and one that fails again fails', () => {
  const firstFails = [
    "import { existsSync, writeFileSync } from 'node:fs'",
    "import { tmpdir } from 'node:os'",
    "const mark = tmpdir() + '/ran'",
    file(
      "test('late', () => { if (!existsSync(mark)) { writeFileSync(mark, ''); throw new Error('the first attempt') } })",
    ),
  ].join('\n')
  const files = { 'a.test.js': firstFails, 'b.test.js': file("test('one', () => {})") }
  const unsteady = run(files, { AICHAT_TEST_AGAIN: '1' })
  assert.equal([unsteady.status, unsteady.last], [0, '1 unsteady, passed at the second attempt: a.test.js'])
  assert.match(unsteady.output, 'the first attempt')
  assert.match(unsteady.output, '\n2 passed, 0 failed, 0 skipped\n')
  assert.is(run(files).last, '1 passed, 1 failed, 0 skipped', 'by default nothing is tried twice')

  const failing = file("test('never', () => { throw new Error('no') })")
  const broken = run({ 'a.test.js': failing }, { AICHAT_TEST_AGAIN: '1' })
  assert.is(broken.status, 1)
  assert.match(broken.output, 'FAIL a.test.js again')
  const many = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [`${name}.test.js`, failing]))
  const refused = run(many, { AICHAT_TEST_AGAIN: '1' })
  assert.is(refused.last, '0 passed, 6 failed, 0 skipped')
  assert.not.match(refused.output, ' again ')
})

test.run()

function file(body: string): string {
  return `import { suite } from 'uvu'\nconst test = suite('x')\n${body}\ntest.run()\n`
}

function run(files: Record<string, string>, environment: Record<string, string> = {}, words: readonly string[] = []) {
  // Below the project, so that the files find uvu.
  const folder = mkdtempSync(
    join(fileURLToPath(new URL('./node_modules/', import.meta.resolve('#package'))), '.test-run-'),
  )
  try {
    mkdirSync(folder, { recursive: true })
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
    const loader = runner.endsWith('.ts') ? ['--import', 'tsx'] : []
    const { status, stdout } = spawnSync(process.execPath, [...loader, runner, ...words], {
      env: { PATH: process.env['PATH'], HOME: tmpdir(), AICHAT_TEST_FOLDER: folder, ...environment },
      encoding: 'utf8',
      timeout: 60_000,
    })
    return { status, output: stdout, last: stdout.trimEnd().split('\n').at(-1) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
