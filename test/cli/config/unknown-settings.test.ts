import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('an entry of the settings file that is no setting')

test('is named with the nearest setting by the commands that are about settings, and by no other', async () => {
  using home = openFastHome()
  const file = join(home.folder, 'config.json')
  writeFileSync(file, JSON.stringify({ 'api.prot': '1', 'chat.model': 'openai:x', chat: { model: 'y' } }))
  for (const words of [
    ['config', 'list'],
    ['config', 'get', 'api.port'],
    ['config', 'set', 'api.port', '3002'],
  ]) {
    const { code, stderr } = await home.aichat(words)
    assert.is(code, 0)
    assert.is(stderr.split('\n').filter(Boolean).length, 2, stderr)
    assert.match(stderr, `aichat: "api.prot" in ${file} is no setting and has no effect; did you mean api.port?\n`)
    assert.match(stderr, `"chat" in ${file} is no setting and has no effect; did you mean chat.model?`)
  }
  const { checks } = JSON.parse((await home.aichat(['doctor', '--json'])).stdout)
  assert.ok(
    checks.some(
      ({ status, detail }: { status: string; detail: string }) => /api\.prot/.test(detail) && status === 'warning',
    ),
  )
  assert.is((await home.aichat(['config', 'path'])).stderr, '')
  assert.is((await home.aichat(['config', 'list', '--quiet'])).stderr, '')
})

test('can be removed by its name', async () => {
  using home = openFastHome()
  const file = join(home.folder, 'config.json')
  writeFileSync(file, JSON.stringify({ 'api.prot': '1', 'api.port': '3002' }))
  assert.is((await home.aichat(['config', 'unset', 'api.prot'])).code, 0)
  assert.equal(JSON.parse(readFileSync(file, 'utf8')), { 'api.port': '3002' })
  const again = await home.aichat(['config', 'unset', 'api.prot'])
  assert.is(again.code, 64)
  assert.match(again.stderr, /Setting "api\.prot" not found; did you mean api\.port\?/)
})

test('is not shown where it looks like a key', async () => {
  using home = openFastHome()
  const key = 'sk-proj-0123456789abcdef0123456789'
  writeFileSync(join(home.folder, 'config.json'), JSON.stringify({ [key]: '1' }))
  const { stdout, stderr } = await home.aichat(['config', 'list'])
  assert.match(stderr, /An entry in .* is no setting/)
  assert.not.match(stdout + stderr, key)
})

test.run()
