import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { packageFolder } from '../../src/app/package-folder.ts'
import { openInstallation, pluginAt } from '../helpers/program/installation.ts'
import { openFastHome } from '../helpers/program/terminal.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('fields of a valid plugin without effect')

const auth = { header: 'Authorization', prefix: 'Bearer ', key_env: 'CUSTOM_API_KEY' }
const source = { url: 'https://chat.example/models' }
const cases: readonly (readonly [change: Record<string, unknown>, warnings: readonly string[]])[] = [
  [{ fallbacks: ['groq'] }, ['fallbacks: no such field, so it has no effect (did you mean fallback?)']],
  [{ auth: { ...auth, key_envv: 'A' } }, ['auth.key_envv: no such field, so it has no effect (did you mean key_env?)']],
  [
    { models_source: { ...source, rows: 'data' } },
    [
      'models_source.rows: no such field, so it has no effect (there are url, items, id, strip, query, next, keep, drop, include)',
    ],
  ],
  [
    { models_source: { ...source, keep: [{ path: 'a', equal: 1 }] } },
    ['models_source.keep.0.equal: no such field, so it has no effect (did you mean equals?)'],
  ],
  [
    { capabilities: { tts: { config: { voice: ['a'] } } } },
    ['capabilities.tts.config.voice: no such field, so it has no effect (did you mean voices?)'],
  ],
  [{ key_env: 'A_API_KEY' }, ['key_env: no such field, so it has no effect (did you mean auth.key_env?)']],
  [{ auth: { ...auth, headers: {} } }, ['auth.headers: no such field, so it has no effect (did you mean header?)']],
  [{ note: 'mine' }, ['note: no such field, so it has no effect']],
  [
    { fallback: [{ plugin: 'groq', modell: 'x' }] },
    ['fallback.0.modell: no such field, so it has no effect (did you mean model?)'],
  ],
  [
    { fallback: ['grok', 'groq', 'custom'] },
    ['fallback.0: there is no plugin "grok" (did you mean groq?)', 'fallback.2: is this plugin itself'],
  ],
  [{ fallback: [{ plugin: 'nobody' }] }, ['fallback.0: there is no plugin "nobody"']],
  [
    { default_model: 'custom-modle' },
    ['default_model: "custom-modle" is not in model_map (did you mean custom-model?)'],
  ],
  [
    {
      capabilities: {
        tts: { config: { voices: ['Alba'], default_voice: 'alba', formats: ['wav'], default_format: 'mp3' } },
      },
    },
    [
      'capabilities.tts.config.default_voice: "alba" is not in voices (did you mean Alba?)',
      'capabilities.tts.config.default_format: "mp3" is not in formats',
    ],
  ],
  [{ models: { 'custom-model': { context_window: 1, anything: 2 } } }, []],
  [{ default_model: 'custom-model', fallback: ['groq'], description: 'x' }, []],
  [
    { 'x\u202ey': 1, [`sk-${'a1'.repeat(20)}`]: 2 },
    ['xy: no such field, so it has no effect', '…: no such field, so it has no effect'],
  ],
]

test('fields that nothing reads, fallbacks that lead nowhere and defaults outside their lists are named', async () => {
  const { app, close } = openInstallation()
  for (const [change, warnings] of cases) {
    const manifest = app.plugins.validate(pluginAt('https://chat.example', change))
    assert.equal(app.plugins.warnings(manifest), warnings, JSON.stringify(change))
  }
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`f${at}`, at]))
  const told = app.plugins.warnings(app.plugins.validate(pluginAt('https://chat.example', many)))
  assert.equal([told.length, told.at(-1)], [21, 'and 480 more'])
  for (const { id } of app.plugins.list()) assert.equal(app.plugins.warnings(app.plugins.export(id)), [], id)
  await close()
})

test('validate names them and exits 1, install and update say them and go on', async () => {
  const home = openFastHome()
  const file = (name: string, change: Record<string, unknown>) => {
    writeFileSync(join(home.folder, name), JSON.stringify(pluginAt('https://chat.example', change)))
    return join(home.folder, name)
  }
  const [good, odd, bad] = [
    file('good', {}),
    file('odd', { fallbacks: ['groq'] }),
    file('bad', { endpoint: 'x', endpont: 'y' }),
  ]
  const one = await home.aichat(['plugin', 'validate', good])
  assert.equal([one.code, one.stdout], [0, `ok      ${good}\n`])
  const two = await home.aichat(['plugin', 'validate', good, odd])
  assert.is(two.code, 1)
  assert.match(
    two.stdout,
    /^warning .*odd\n {2}fallbacks: no such field, so it has no effect \(did you mean fallback\?\)$/m,
  )
  const three = await home.aichat(['plugin', 'validate', good, odd, bad, '--json'])
  assert.is(three.code, 65)
  const { files } = JSON.parse(three.stdout)
  assert.equal(
    files.map(({ valid, errors, warnings }: Record<string, string[]>) => [valid, errors!.length, warnings!.length]),
    [
      [true, 0, 0],
      [true, 0, 1],
      [false, 1, 1],
    ],
  )
  const installed = await home.aichat(['plugin', 'install', odd, '--json'])
  assert.is(installed.code, 0)
  assert.match(installed.stderr, /aichat: fallbacks: no such field/)
  assert.is(JSON.parse(installed.stdout).warnings.length, 1)
  assert.equal(JSON.parse(installed.stdout).fallbacks, ['groq'], 'an unknown field is kept')
  const updated = await home.aichat(['plugin', 'update', 'custom', odd])
  assert.equal([updated.code, updated.stdout], [0, 'custom\n'])
  assert.match(updated.stderr, /aichat: fallbacks: no such field/)
  const bundled = await home.aichat(['plugin', 'validate', join(packageFolder('plugins'), 'openai.json')])
  assert.is(bundled.code, 0)
  home.remove()
})

test.run()
