import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { folderTarget } from '../../src/backup/folder-target.ts'
import { newName } from '../../src/backup/target.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { pluck } from '../helpers/pluck.ts'
import { rejects } from '../helpers/rejection.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('a folder of backups')

const name = newName(0, { scheduled: false, encrypted: false })

test('is made where it may be, but for its parents where a disk may be absent', async () => {
  const root = temporaryFolder()
  const file = join(root, 'made')
  writeFileSync(file, 'bytes')
  mkdirSync(join(root, 'there'))
  for (const [place, makeParents, isMade] of [
    ['there/backups', false, true],
    ['absent/backups', false, false],
    ['other/backups', true, true],
  ] as const) {
    const folder = join(root, place)
    const target = folderTarget(folder, { makeParents })
    assert.equal(await target.list(), [])
    const put = target.put(file, name)
    if (!isMade) await rejects(put, 'configuration', /absent is not there/)
    else await put
    assert.is(existsSync(folder), isMade)
    if (!isMade) continue
    assert.equal(
      [readFileSync(join(folder, name), 'utf8'), statSync(join(folder, name)).mode & 0o777],
      ['bytes', 0o600],
    )
    assert.equal([target.remove(name), target.remove(name)], [true, false])
  }
})

test('forgets the unfinished copies of processes that are gone', async () => {
  const folder = temporaryFolder()
  const left = join(folder, `.aichat-backup.pid999999999-1.${name}`)
  for (const path of [left, join(folder, 'made'), join(folder, 'notes.txt')]) writeFileSync(path, 'x')
  const target = folderTarget(folder, { makeParents: false })
  await target.put(join(folder, 'made'), name)
  assert.is(existsSync(left), false)
  assert.equal(pluck(await target.list(), 'name'), [name])
  assert.is(target.fileOf(name), join(folder, name))
  assert.throws(() => target.fileOf('none'), /"none" not found/)
})

test.run()
