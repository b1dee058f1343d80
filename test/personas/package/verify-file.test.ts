// Some with --all only: many processes.
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openScratch } from '../../../src/personas/package/scratch.ts'
import { LocalPackage, receivePackage } from '../../../src/personas/package/upload.ts'
import { openForImport, verifyPackage } from '../../../src/personas/package/verify-file.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import { put, signed } from '../../helpers/personas/package-forge.ts'
import { suite } from '../../helpers/suite.ts'

const files = suite('package files')

function inFolder(use: (folder: string) => Promise<void>) {
  return async () => {
    const folder = temporaryFolder()
    await use(folder)
  }
}

/** A valid package with so many memories of 20,000 characters. */
function packageOf(count: number): string {
  const content = 'x'.repeat(20_000)
  return signed({
    persona: { id: 'p', user_id: 'u', name: 'Ada', model: 'm' },
    state: { adaptation_level: 0, learned_preferences: {}, behavioral_weights: {}, last_mutation: 0 },
    memories: Array.from({ length: count }, (_, at) => ({
      id: `m${at}`,
      content,
      timestamp: at,
      importance_score: 0.5,
    })),
    adaptation_log: [],
    export_metadata: { version: '1.0', exported_at: 1, user_id: 'u' },
  })
}

files(
  'up to 8 MiB are read once: a change after the verification changes nothing',
  inFolder(async (folder) => {
    const path = put(join(folder, 'small.json'), packageOf(10))
    const { result, source } = await openForImport({ path, kind: 'json' })
    assert.equal(result.problems, [])
    writeFileSync(path, '{}')
    assert.equal(
      [...source!.memories()].map(({ fields }) => fields['id']),
      Array.from({ length: 10 }, (_, at) => `m${at}`),
    )
    source!.close()
  }),
)

files.whole(
  'beyond 8 MiB are read again, and refused when they were changed since the verification',
  inFolder(async (folder) => {
    const text = packageOf(430)
    const path = put(join(folder, 'large.json'), text)
    const read = async () => {
      const { result, source } = await openForImport({ path, kind: 'json' })
      assert.equal(result.problems, [])
      return source!
    }
    const same = await read()
    assert.is([...same.memories()].length, 430)
    same.close()
    const changed = await read()
    writeFileSync(path, text.replace('"m7"', '"m7"'.replace('m', 'n')).replace('xxxx', 'yyyy'))
    assert.throws(() => [...changed.memories()], /changed while it was read/)
    changed.close()
  }),
)

files(
  'of this machine are verified where they lie, with their progress',
  inFolder(async (folder) => {
    const scratch = join(folder, 'scratch')
    const { path } = new LocalPackage(put(join(folder, 'ada.json'), packageOf(3)), undefined).received()
    const seen: number[] = []
    const result = await verifyPackage(
      path,
      openScratch(scratch, () => 'x'),
      { onMemory: (count) => seen.push(count) },
    )
    assert.equal([result.valid, result.memories, seen], [true, 3, [1, 2, 3]])
    assert.equal(readdirSync(folder), ['ada.json'])
  }),
)

files(
  'are streamed to a server after their passphrase, and received as they were',
  inFolder(async (folder) => {
    const age = 'age-encryption.org/v1\nnot really'
    const scratch = openScratch(join(folder, 'scratch'), () => 'x')
    const received = await receivePackage(new LocalPackage(put(join(folder, 'ada.age'), age), 'correct horse'), scratch)
    assert.equal([received.passphrase, received.bytes], ['correct horse', age.length])
    received.discard()
    assert.equal(readdirSync(join(folder, 'scratch')), [])
  }),
)

files.run()
