import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { pluck } from '../../helpers/pluck.ts'
import type { Home } from '../../helpers/program/command.ts'
import { openInstallation, pluginAt } from '../../helpers/program/installation.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { json, openStandIn } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat embed')

const lines = 'the dog barks loudly\nstock markets fell\n\nmy kitten purrs\nrain tomorrow\n'

test('prints a vector of each text by the built-in model, which is there without a download', () =>
  withHome(async (home) => {
    const { code, stdout, stderr } = await home.aichat(['embed', 'a cat', 'a dog'])
    assert.equal([code, stderr], [0, ''])
    const vectors = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as number[])
    assert.equal(pluck(vectors, 'length'), [448, 448])
    assert.not.equal(vectors[0], vectors[1])
    assert.is((await home.aichat(['embed', '-m', 'builtin', 'a cat'])).stdout, `${stdout.split('\n')[0]}\n`)
    const whole = JSON.parse((await home.aichat(['embed', 'a cat', '--json'])).stdout)
    assert.equal(
      [whole.dimensions, whole.embeddings[0].text, whole.embeddings[0].embedding],
      [448, 'a cat', vectors[0]],
    )
  }))

test('reads stdin and files, whole or by their lines', () =>
  withHome(async (home) => {
    const file = join(home.folder, 'lines.txt')
    writeFileSync(file, lines)
    const count = async (words: readonly string[], input?: string) => {
      const { code, stdout, stderr } = await home.aichat(['embed', ...words], input === undefined ? {} : { input })
      assert.is(code, 0, stderr)
      return stdout.trimEnd().split('\n').length
    }
    assert.is(await count([], lines), 1)
    assert.is(await count(['--lines'], lines), 4)
    assert.is(await count(['-f', file]), 1)
    assert.is(await count(['--lines', '-f', file, '-f', file]), 8)
    assert.is(await count(['one', '-f', '-'], 'two'), 2)
    assert.is(await count(['--lines', '-'], 'word\n'.repeat(450)), 450)
  }))

test('--similar ranks the lines of a file by their nearness', () =>
  withHome(async (home) => {
    const file = join(home.folder, 'lines.txt')
    writeFileSync(file, lines)
    const { code, stdout } = await home.aichat(['embed', 'a', 'purring', 'cat', '--similar', file, '-n', '2'])
    assert.is(code, 0)
    assert.match(stdout, /^SCORE +LINE +TEXT\n0\.\d{4} +4 +my kitten purrs\n0\.\d{4} +1 +the dog barks loudly\n$/)
    const piped = await home.aichat(['embed', 'a purring cat', '--similar', '-', '--json'], { input: lines })
    const { results } = JSON.parse(piped.stdout)
    assert.is(results.length, 4)
    assert.equal([results[0].line, results[0].text], [4, 'my kitten purrs'])
    assert.ok(results[0].score > results[3].score)
    const same = await home.aichat(['embed', '--similar', file, '--jq', '.results[0] | .score, .text'], {
      input: 'rain tomorrow\n',
    })
    assert.is(same.stdout, '1\nrain tomorrow\n')
  }))

test('wrong input is a clear error', () =>
  withHome(async (home) => {
    const binary = join(home.folder, 'x.bin')
    writeFileSync(binary, Buffer.from([0x89, 0xff, 0x80, 0]))
    const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
      [[], 64, /Nothing to embed/],
      [['  '], 64, /Nothing to embed/],
      [['-f', binary], 65, /x\.bin is no text/],
      [['-f', join(home.folder, 'none')], 66, /Cannot read/],
      [['--similar', binary], 64, /Nothing to compare with/],
      [['x', '--similar', binary], 65, /no text/],
      [['x', '--similar', binary, '--lines'], 64, /leave out -f and --lines/],
      [['x', '-m', 'nope'], 67, /Embedding model "nope" not found/],
      [['x'.repeat(200_001)], 65, /at most 200000 characters/],
      [['x', '--similar', join(home.folder, 'empty')], 64, /Nothing to embed/],
      [['-', '-'], 64, /read only once/],
    ]
    writeFileSync(join(home.folder, 'empty'), '\n \n')
    for (const [words, exit, message] of cases) {
      const { code, stdout, stderr } = await home.aichat(['embed', ...words])
      assert.equal([code, stdout], [exit, ''], stderr.slice(0, 300))
      assert.match(stderr, message)
    }
  }))

test('an embedding plugin and a daemon make them too', async () => {
  await using stand = await openStandIn((request, response) => {
    const { input } = JSON.parse(request.body)
    const data = [input]
      .flat()
      .map((text: string, index: number) => ({ object: 'embedding', index, embedding: [text.length, 0.5] }))
    json(response, 200, { object: 'list', data, model: 'small', usage: { prompt_tokens: 1, total_tokens: 1 } })
  })
  await using installation = openInstallation({ CUSTOM_API_KEY: 'sk-canary-0123456789' })
  const url = await installation.serve()
  await withHome(async (home) => {
    const words = ['--server', url]
    const plugin = pluginAt(stand.url, {
      type: 'embedding',
      endpoint: `${stand.url}/v1/embeddings`,
      model_map: ['small'],
    })
    const installed = await home.aichat(['plugin', 'install', '-', '--activate', ...words], {
      input: JSON.stringify(plugin),
    })
    assert.is(installed.code, 0, installed.stderr)
    const { code, stdout, stderr } = await home.aichat(['embed', 'abc', 'de', '-m', 'custom:small', ...words])
    assert.equal([code, stdout], [0, '[3,0.5]\n[2,0.5]\n'], stderr)
  })
})

test.run()

async function withHome(use: (home: Home) => Promise<void>): Promise<void> {
  using home = openFastHome()
  await use(home)
}
