import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { processMark } from '../../../src/storage/shared/process-mark.ts'
import { openHome } from '../../helpers/program/command.ts'
import { serveHere } from '../../helpers/program/daemon.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('records of services that were killed')

test('are removed when the next service starts, also where another process has the id by now', async () => {
  const home = openHome()
  const folder = join(home.folder, 'services')
  const record = (pid: number, mark: string) => JSON.stringify({ mark, pid, started_at: 1, servers: [] })
  mkdirSync(folder)
  // Ids beyond the largest one that Linux gives.
  writeFileSync(join(folder, '4194305.json'), record(4194305, processMark().replace(/pid.*/, 'pid4194305-7')))
  writeFileSync(join(folder, '4194306.json'), '{')
  writeFileSync(join(folder, `${process.ppid}.json`), record(process.ppid, processMark().replace(/-\d+$/, '-1')))
  writeFileSync(join(folder, '4194307.json'), record(4194307, processMark()))
  const daemon = await serveHere({}, home.folder)
  try {
    assert.equal(readdirSync(folder).sort(), ['4194307.json', `${process.pid}.json`].sort())
  } finally {
    await daemon.stop()
    home.remove()
  }
})

test.run()
