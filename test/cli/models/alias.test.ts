import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { Home } from '../../helpers/program/command.ts'
import { pluginAt } from '../../helpers/program/installation.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { completion, json, openStandIn, type StandIn } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat models alias')

test('an alias stands for its model in -m, in the default model, and in a persona, which keeps the model itself', () =>
  withProvider(async ({ home, stand }) => {
    const set = await home.aichat(['models', 'alias', 'fast', 'custom:small'])
    assert.equal([set.code, set.stdout, set.stderr], [0, 'fast is custom:small\n', ''])
    await home.aichat(['chat', '-S', '-m', 'fast', 'Hi'])
    await home.aichat(['-m', 'fast', 'Hi'])
    await home.aichat(['chat', '-S', 'Hi'], { environment: { AICHAT_MODEL: 'fast' } })
    assert.equal(
      stand.received.map(({ body }) => JSON.parse(body).model),
      ['small', 'small', 'small'],
    )
    await home.aichat(['persona', 'create', '--name', 'Ada', '-m', 'fast'])
    await home.aichat(['models', 'alias', 'fast', 'custom:large'])
    const persona = JSON.parse((await home.aichat(['persona', 'show', 'Ada', '--json'])).stdout)
    assert.is(persona.model, 'custom:small')
    await home.aichat(['chat', '-S', '-m', 'fast', 'Hi'])
    assert.is(JSON.parse(stand.received.at(-1)!.body).model, 'large')
  }))

test('aliases are listed, shown, removed, and kept for their user alone', () =>
  withProvider(async ({ home }) => {
    assert.equal(JSON.parse((await home.aichat(['models', 'alias', '--json'])).stdout), { aliases: [] })
    await home.aichat(['models', 'alias', 'tiny', 'custom:small'])
    await home.aichat(['models', 'alias', 'best', 'tiny'])
    assert.is((await home.aichat(['models', 'alias', '--plain'])).stdout, 'best\tcustom:small\ntiny\tcustom:small\n')
    assert.is((await home.aichat(['models', 'alias', 'best'])).stdout, 'custom:small\n')
    assert.is(statSync(join(home.folder, 'model-aliases.json')).mode & 0o777, 0o600)
    assert.is((await home.aichat(['models', 'alias', 'best', '--remove'])).code, 0)
    const gone = await home.aichat(['models', 'alias', 'tini', '--remove'])
    assert.is(gone.code, 67)
    assert.match(gone.stderr, 'did you mean tiny?')
    assert.is((await home.aichat(['models', 'alias', '--remove'])).code, 64)
  }))

test('a wrong name or model is refused, and no two aliases make a loop', () =>
  withProvider(async ({ home }) => {
    const refused: readonly (readonly [string, string, RegExp])[] = [
      ['custom:small', 'custom:large', /Invalid alias/],
      ['a/b', 'custom:large', /Invalid alias/],
      ['', 'custom:large', /Invalid alias/],
      ['x'.repeat(65), 'custom:large', /Invalid alias/],
      ['local', 'custom:large', /"local" is taken: it is a word of aichat/],
      ['me', 'me', /would stand for itself/],
      ['two', 'one\ntwo', /Invalid model/],
      ['none', '', /Invalid model/],
    ]
    for (const [name, model, expected] of refused) {
      const { code, stderr } = await home.aichat(['models', 'alias', name, model])
      assert.is(code, 65, `${name} ${model}`)
      assert.match(stderr, expected)
    }
    await home.aichat(['models', 'alias', 'one', 'custom:small'])
    await home.aichat(['models', 'alias', 'other', 'one'])
    await home.aichat(['models', 'alias', 'one', 'other'])
    assert.is((await home.aichat(['models', 'alias', '--plain'])).stdout, 'one\tcustom:small\nother\tcustom:small\n')
  }))

test('a damaged file of aliases is named, and stops no command that names no alias', () =>
  withProvider(async ({ home, stand }) => {
    const path = join(home.folder, 'model-aliases.json')
    for (const content of ['{ broken', '[]', '{"a":1}', '{"a:b":"c"}', `{"a":"${'x'.repeat(400)}"}`]) {
      writeFileSync(path, content)
      const { code, stderr } = await home.aichat(['chat', '-S', '-m', 'fast', 'Hi'])
      assert.is(code, 78, content)
      assert.match(stderr, `Invalid model aliases in ${path}`)
    }
    assert.is((await home.aichat(['chat', '-S', '-m', 'custom:small', 'Hi'])).code, 0)
    assert.is((await home.aichat(['plugin', 'list'])).code, 0)
    assert.is(stand.received.length, 1)
  }))

test.run()

async function withProvider(run: (parts: { home: Home; stand: StandIn }) => Promise<void>): Promise<void> {
  const model_map = ['small', 'large']
  await using stand = await openStandIn((_request, response) => json(response, 200, completion('Hello')))
  using home = openFastHome({ CUSTOM_API_KEY: 'k-0123456789' })
  await home.aichat(['plugin', 'install', '-'], { input: JSON.stringify(pluginAt(stand.url, { model_map })) })
  await run({ home, stand })
}
