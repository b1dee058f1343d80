// With --all only: a killed process.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { openInstallation, pluginAt } from '../helpers/program/installation.ts'
import { json, openStandIn } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('a refresh that is killed')

const self = import.meta.url
const loader = self.endsWith('.ts') ? ['--import', 'tsx'] : []
const script = fileURLToPath(new URL(self.endsWith('.ts') ? './refresh-killed.ts' : './refresh-killed.js', self))

test('at each step of the write: one of the two lists is whole and in use, and so is the backup', async () => {
  await using provider = await openStandIn((_, response) =>
    json(response, 200, { data: [{ id: 'old-one' }, { id: 'new-one' }] }),
  )
  await using installation = openInstallation({ CUSTOM_API_KEY: 'key' })
  const { plugins } = installation.app
  const before = pluginAt(provider.url, {
    model_map: ['old-one', 'old-two'],
    models_source: { url: `${provider.url}/models` },
    my_note: 'kept',
  })
  await plugins.install(before)
  const seen = new Set<string>()
  let killed = 0
  for (let step = 1; ; step++) {
    await plugins.install({ ...before, description: 'backed up' }, { replace: true })
    await plugins.install(before, { replace: true })
    const child = spawn(process.execPath, [...loader, script, installation.home, String(step)], { stdio: 'inherit' })
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
    // Another process reads the very files, as a daemon does.
    const reader = openReader(installation.home)
    const { model_map: models, my_note: note } = reader.document
    assert.is(note, 'kept')
    assert.equal(reader.backup.model_map, ['old-one', 'old-two'])
    const list = models.join()
    assert.ok(list === 'old-one,old-two' || list === 'old-one,new-one', `step ${step}: ${list}`)
    assert.equal(plugins.get('custom').model_map, models)
    assert.equal(plugins.broken(), [])
    seen.add(list)
    if (signal !== 'SIGKILL') {
      assert.is(code, 0)
      break
    }
    killed = step
  }
  // Two files are replaced, each by an open, a write, a flush, a close, a rename, and the folder's flush.
  assert.ok(killed >= 12, `it was killed ${killed} times`)
  assert.is(seen.size, 2)
})

test.run()

function openReader(home: string): { document: Document; backup: Document } {
  const read = (name: string) => JSON.parse(readFileSync(join(home, 'plugins', name), 'utf8')) as Document
  return { document: read('custom.json'), backup: read('custom.json.backup') }
}

type Document = { readonly model_map: readonly string[]; readonly my_note: string }
