// With --all only: a killed process.
import * as assert from 'uvu/assert'
import { suite } from '../../helpers/suite.ts'
import { codeOf, launch, statusOf } from './fake-client.ts'
import { scene } from './scene.ts'

const test = suite('aichat launch, killed')

test('killed by SIGKILL it leaves a key that ends within a day, and a client that is ended tells its signal', () =>
  scene(async (place) => {
    const killed = await launch(place, ['codex'], { FAKE_WAITS: '1' })
    killed.child.kill('SIGKILL')
    await codeOf(killed.child)
    process.kill(killed.told.pid, 'SIGKILL')
    const { keys } = JSON.parse((await place.run(['key', 'list', '--json'])).stdout)
    const ends = keys[0].expires_at - Date.now()
    assert.ok(ends > 0 && ends <= 86_400_000, String(ends))
    const ended = await launch(place, ['codex'], { FAKE_WAITS: '1' })
    process.kill(ended.told.pid, 'SIGKILL')
    assert.is(await codeOf(ended.child), 137)
    assert.match(ended.output.stderr, /codex was ended by SIGKILL/)
  }))

test('the daemon that it serves itself ends when it is killed', () =>
  scene(async (place) => {
    await place.run(['config', 'set', 'api.port', '9'])
    const killed = await launch(place, ['codex'], { FAKE_WAITS: '1' })
    killed.child.kill('SIGKILL')
    await codeOf(killed.child)
    assert.is(await statusOf(killed.told.base, killed.told.key), 0)
    process.kill(killed.told.pid, 'SIGKILL')
  }))

test.run()
