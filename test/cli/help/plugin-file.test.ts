import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import { minimalPlugin, pluginFields } from '../../../src/cli/help/plugin-file.ts'
import { pluginManifest } from '../../../src/plugins/manifest.ts'
import { runMain } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'

const root = fileURLToPath(new URL('./', import.meta.resolve('#package')))
const fields = pluginFields()

const test = suite('the reference of the plugin file')

test('every field has a type, a description and an example that its schema accepts', () => {
  for (const { path, type, description, examples, schema } of fields) {
    assert.ok(type, path)
    assert.match(description, /^[A-Z].*\.$|^[A-Z].* -$/, path)
    assert.ok(examples.length > 0, path)
    for (const example of examples)
      assert.ok(z.safeParse(schema, example).success, `${path}: ${JSON.stringify(example)}`)
  }
})

test('every field of the shipped plugins is described, at any depth', () => {
  const known = new Set(fields.map(({ path }) => path))
  for (const file of readdirSync(`${root}plugins`)) {
    const document: unknown = JSON.parse(readFileSync(`${root}plugins/${file}`, 'utf8'))
    for (const path of pathsOf(document, '')) assert.ok(known.has(path), `${file}: ${path}`)
  }
})

test('the required fields are those of the smallest plugin, which is valid', () => {
  assert.ok(pluginManifest.safeParse(minimalPlugin).success)
  const required = fields.filter((field) => field.required && !field.path.includes('.')).map(({ path }) => path)
  assert.equal(required, Object.keys(minimalPlugin))
  for (const name of required) {
    const { [name]: _, ...rest } = minimalPlugin as Record<string, unknown>
    assert.not(pluginManifest.safeParse(rest).success, name)
  }
})

test('aichat help plugin-file prints each field with type, default, meaning and example within the width', async () => {
  const { code, stdout } = await runMain(['help', 'plugin-file'])
  assert.is(code, 0)
  assert.match(
    stdout,
    /^retry\.attempts \(whole number; default 2\)\n {4}The most attempts, from 1 to 4\.\n {4}Example: 3$/m,
  )
  assert.match(stdout, /^auth\.key_env \(string; required\)$/m)
  assert.match(stdout, /^models_source\.items \(string; default "data"\)$/m)
  assert.match(stdout, /^models_source\.keep\[\]\.path \(string; required\)$/m)
  const prose = stdout.split('\n').filter((line) => !/^ {4}Example: |\(/.test(line))
  assert.ok(prose.every((line) => line.length <= 80))
})

test.run()

/** Dotted paths of an object's fields; free-form objects (`headers`, `models`, `query`) are not entered. */
function pathsOf(value: unknown, prefix: string): readonly string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap((item) => pathsOf(item, `${prefix}[]`)))]
  if (typeof value !== 'object' || value === null || /^(?:headers|models|models_source\.query)$/.test(prefix)) return []
  return Object.entries(value).flatMap(([name, item]) => {
    const path = prefix ? `${prefix}.${name}` : name
    return [path, ...pathsOf(item, path)]
  })
}
