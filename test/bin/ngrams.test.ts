// With --all only: a whole sample.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { suite } from '../helpers/suite.ts'

const test = suite('the letter statistics of languages in the bundle')

const root = fileURLToPath(new URL('./', import.meta.resolve('#package')))

/** Compares the module that the bundle gets with that of `eld`, in a process of its own: the latter takes 100 MB. */
const script = `
  import { createRequire } from 'node:module'
  import { searchableNgrams } from ${JSON.stringify(`${root}bin/ngrams.mjs`)}
  const { ngramsData: whole } = await import(${JSON.stringify(`${root}node_modules/eld/src/ngrams/small.js`)})
  const require = createRequire(${JSON.stringify(`${root}package.json`)})
  const { build } = createRequire(require.resolve('tsx/package.json'))('esbuild')
  const { outputFiles } = await build({
    absWorkingDir: ${JSON.stringify(root)},
    stdin: { contents: "export { ngramsData } from './node_modules/eld/src/ngrams/small.js'", resolveDir: ${JSON.stringify(root)} },
    bundle: true, write: false, format: 'esm', platform: 'node', charset: 'utf8', plugins: [searchableNgrams],
  })
  const { ngramsData: ours } = await import('data:text/javascript;base64,' + Buffer.from(outputFiles[0].contents).toString('base64'))
  const same = (one, other) => JSON.stringify(one) === JSON.stringify(other)
  const sequences = Object.keys(whole.ngrams)
  const { ngrams: _, ...rest } = whole
  const { ngrams: __, ...ourRest } = ours
  process.stdout.write(JSON.stringify({
    count: sequences.length,
    different: sequences.filter((sequence) => !same(ours.ngrams[sequence], whole.ngrams[sequence])).slice(0, 5),
    absent: ['', ' ', 'qqqqq', ' qqqq', '日本語', '__proto__', '}'].map((sequence) => Object.keys(ours.ngrams[sequence] ?? {}).length),
    sameRest: same(rest, ourRest),
  }))`

test('are those of the package, for each of its sequences and for no other', () => {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  assert.is(stderr, '')
  const { count, ...found } = JSON.parse(stdout)
  assert.ok(count > 50_000, `${count} sequences`)
  assert.equal(found, { different: [], absent: [0, 0, 0, 0, 0, 0, 0], sameRest: true })
})

test.run()
