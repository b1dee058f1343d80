import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import * as assert from 'uvu/assert'
import { suite } from '../helpers/suite.ts'

const root = fileURLToPath(new URL('./', import.meta.resolve('#package')))
const { pastDoors } = (await import(new URL('bin/doors.mjs', import.meta.resolve('#package')).href)) as {
  readonly pastDoors: (root: string) => import('esbuild').Plugin
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
    needs: ['src/personas/memory', 'src/formats', 'src/process/heavy-turns.ts', 'src/errors.ts'],
    prints: ['What colour is my kayak? My kayak is red.', 'Who won the match? nothing'],
  },
  {
    door: 'speech/text-and-wav.ts',
    needs: ['speech/text', 'speech/audio', 'src/errors.ts'],
    prints: ["'Dear Dr. Ames, we leave at 5 p.m. today.'", "'Bring two coats!'", 'seconds'],
  },
]

const test = suite('the rooms that stand alone')

for (const { door, needs, prints } of doors)
  test(`the example in ${door} runs, and uses nothing else of aichat`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'aichat-example-'))
    try {
      const outfile = join(folder, 'example.mjs')
      const { metafile } = await build({
        absWorkingDir: root,
        stdin: { contents: exampleIn(door), resolveDir: join(root, door, '..'), loader: 'ts' },
        outfile,
        bundle: true,
        metafile: true,
        format: 'esm',
        platform: 'node',
        plugins: [pastDoors(root)],
        tsconfigRaw: '{}',
      })
      const used = Object.keys(metafile.inputs).filter((file) => /^(?:src|speech)\//.test(file))
      assert.equal(
        used.filter((file) => file !== door && !needs.some((need) => file === need || file.startsWith(`${need}/`))),
        [],
      )
      const { stdout } = await promisify(execFile)(process.execPath, [outfile])
      for (const text of prints) assert.ok(stdout.includes(text), `${text} in ${stdout}`)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

test.run()

/** The example in the first comment of a door. */
function exampleIn(door: string): string {
  const [, comment] = /^\/\*\*\n([\s\S]*?)\n \*\/$/m.exec(readFileSync(join(root, door), 'utf8'))!
  const [, example] = comment!.replace(/^ \* ?/gm, '').split('@example\n')
  return example!
}
