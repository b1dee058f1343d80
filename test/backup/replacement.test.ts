import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { finishReplacement, replaceTogether } from '../../src/storage/files/replacement.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('files that are replaced together')

test('a replacement that was cut off after any of its steps is finished by the next process', () => {
  for (let done = 0; done <= 5; done++) {
    const folder = temporaryFolder()
    const at = (...parts: string[]) => join(folder, ...parts)
    for (const name of ['a', 'b']) {
      writeFileSync(at(name), `old ${name}`)
      writeFileSync(at(`${name}.new`), `new ${name}`)
    }
    writeFileSync(at('gone'), 'old gone')
    const moves = [
      { from: at('a.new'), to: at('a'), aside: at('aside', 'a') },
      { from: null, to: at('gone'), aside: at('aside', 'gone') },
      { from: at('b.new'), to: at('b'), aside: at('aside', 'b') },
    ]
    writeFileSync(at('replacement.json'), JSON.stringify({ moves }))
    mkdirSync(at('aside'))
    const steps = [
      ['a', 'aside/a'],
      ['a.new', 'a'],
      ['gone', 'aside/gone'],
      ['b', 'aside/b'],
      ['b.new', 'b'],
    ]
    for (const [from, to] of steps.slice(0, done)) {
      writeFileSync(at(to!), readFileSync(at(from!)))
      rmSync(at(from!))
    }
    assert.is(finishReplacement(folder), true)
    const read = (...parts: string[]) => readFileSync(at(...parts), 'utf8')
    assert.equal(
      [read('a'), read('b'), read('aside', 'a'), read('aside', 'b'), read('aside', 'gone')],
      ['new a', 'new b', 'old a', 'old b', 'old gone'],
    )
    assert.equal(readdirSync(folder).sort(), ['a', 'aside', 'b'])
    assert.is(finishReplacement(folder), false)
    rmSync(folder, { recursive: true })
  }
})

test('a replacement that cannot write its journal changes nothing', () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'a'), 'old')
  assert.throws(() =>
    replaceTogether(join(folder, 'a', 'no folder'), [{ from: null, to: join(folder, 'a'), aside: join(folder, 'b') }]),
  )
  assert.equal(readdirSync(folder), ['a'])
  rmSync(folder, { recursive: true })
})

test.run()
