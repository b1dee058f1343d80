import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { suite } from '../helpers/suite.ts'

const root = fileURLToPath(new URL('./', import.meta.resolve('#package')))
const { bundleModule } = (await import(new URL('bin/bundle.mjs', import.meta.resolve('#package')).href)) as {
  readonly bundleModule: (root: string, source: string, target: string) => Promise<readonly string[]>
}

/** The doors that stand alone: what else of the sources an example may use, and what it prints. */
const doors = [
  {
    door: 'src/chat/dialects/dialects.ts',
    needs: ['src/chat/dialects', 'src/chat/protocol', 'src/formats', 'src/process/heavy-turns.ts', 'src/errors.ts'],
    prints: ["[ { role: 'user', content: 'Hi' } ]", "message: { role: 'assistant', content: 'Hello!' }"],
  },
  {
    door: 'src/personas/memory/rank-texts.ts',
    needs: ['src/personas/memory', 'src/personas/words', 'src/formats', 'src/process/heavy-turns.ts', 'src/errors.ts'],
    prints: ['What colour is my kayak? My kayak is red.', 'Who won the match? nothing'],
  },
  {
    door: 'speech/text-and-wav.ts',
    needs: ['speech/text', 'speech/audio', 'speech/shared/data.ts', 'src/errors.ts'],
    prints: ["'Dear Dr. Ames, we leave at 5 p.m. today.'", "'Bring two coats!'", 'seconds'],
  },
]

const test = suite('the rooms that stand alone')

/** Among the modules of the tests, where an example finds the packages. */
const folder = mkdtempSync(join(root, 'dist', 'test', 'example-'))
test.after(() => rmSync(folder, { recursive: true, force: true }))
const [source, target] = [join(folder, 'example.ts'), join(folder, 'example.mjs')]

for (const { door, needs, prints } of doors)
  test(`the example in ${door} runs, and uses nothing else of aichat`, async () => {
    writeFileSync(source, exampleIn(door).replace("from './", `from '${join(root, dirname(door))}/`))
    const used = (await bundleModule(root, source, target)).filter((file) => /^(?:src|speech)\//.test(file))
    const further = used.filter((file) => file !== door && !needs.some((need) => `${file}/`.startsWith(`${need}/`)))
    assert.equal(further, [])
    const { stdout } = await promisify(execFile)(process.execPath, [target])
    for (const text of prints) assert.ok(stdout.includes(text), `${text} in ${stdout}`)
  })

test.run()

/** The example in the first comment of a door. */
function exampleIn(door: string): string {
  const [, comment] = /^\/\*\*\n([\s\S]*?)\n \*\/$/m.exec(readFileSync(join(root, door), 'utf8'))!
  const [, example] = comment!.replace(/^ \* ?/gm, '').split('@example\n')
  return example!
}
