// With --all only: a real client program.
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { decryptFile, encryptFile } from '../../src/formats/age-file.ts'
import { haveProgram } from '../helpers/debian.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { suite } from '../helpers/suite.ts'

const suiteOfAge = suite('age files and the program age')
const test = haveProgram('script', 'bsdutils') && haveProgram('age') ? suiteOfAge : suiteOfAge.skip

const folder = temporaryFolder()
suiteOfAge.after(() => rmSync(folder, { recursive: true, force: true }))
const [plain, sealed, back] = ['plain', 'sealed', 'back'].map((name) => join(folder, name)) as [string, string, string]
const passphrase = 'correct horse battery'
/** More than one chunk of the format, which is 64 KiB. */
const content = Buffer.from('0123456789abcdef'.repeat(10_000))
writeFileSync(plain, content)

test('made by age open here', async () => {
  onTerminal(['age', '-p', '-o', sealed, plain], [passphrase, passphrase])
  await decryptFile(sealed, back, passphrase)
  assert.ok(content.equals(readFileSync(back)))
  for (const path of [sealed, back]) rmSync(path)
})

test('made here open with age', async () => {
  await encryptFile(plain, sealed, passphrase, 8)
  onTerminal(['age', '-d', '-o', back, sealed], [passphrase])
  assert.ok(content.equals(readFileSync(back)))
})

suiteOfAge.run()

/** age asks for passphrases on a terminal only, so it gets one. */
function onTerminal(words: readonly string[], answers: readonly string[]): void {
  const { status, stdout } = spawnSync('script', ['-qec', words.join(' '), '/dev/null'], {
    input: answers.map((answer) => `${answer}\n`).join(''),
    encoding: 'utf8',
  })
  assert.is(status, 0, stdout)
}
