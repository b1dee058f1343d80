import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { packageFolder } from '../../src/app/package-folder.ts'
import { chatModels, rowsOf } from '../../src/plugins/catalog.ts'
import { parseManifest } from '../../src/plugins/manifest.ts'
import { testData } from '../helpers/data.ts'
import { suite } from '../helpers/suite.ts'

const folder = packageFolder('plugins')
const rules = { keyNames: [], allowPrivate: true, pinned: new Map() }
const manifests = readdirSync(folder).map((file) =>
  parseManifest(JSON.parse(readFileSync(join(folder, file), 'utf8')), rules),
)
const providers = manifests.filter((manifest) => manifest.type === 'completion')

const test = suite('the bundled plugins')

test('are seven providers and three speech servers, each file named after its id', () => {
  assert.equal(
    readdirSync(folder)
      .map((file) => file.replace('.json', ''))
      .sort(),
    manifests.map(({ id }) => id).sort(),
  )
  assert.equal(providers.map(({ id }) => id).sort(), [
    'anthropic',
    'gemini',
    'github',
    'groq',
    'mistral',
    'openai',
    'openrouter',
  ])
  assert.equal(
    manifests
      .filter(({ type }) => type === 'tts')
      .map(({ id }) => id)
      .sort(),
    ['voxa-tts', 'voxb-tts', 'voxb-tts-1.6b'],
  )
})

test('hold the counts that the manual names', () => {
  const page = readFileSync(join(folder, '..', 'man', 'aichat-plugin.md'), 'utf8')
  for (const { id, model_map } of providers)
    assert.match(page, new RegExp(`^\\| ${id} \\| ${model_map.length} \\|`, 'm'))
})

test('name each model once, and a default that is in the list', () => {
  for (const { id, model_map, default_model } of providers) {
    assert.is(new Set(model_map).size, model_map.length, id)
    assert.ok(model_map.includes(default_model!), id)
  }
})

test('name a key variable of the form PROVIDER_API_KEY, and no key', () => {
  for (const { id, auth } of providers) assert.is(auth.key_env, `${id.toUpperCase()}_API_KEY`)
  for (const file of readdirSync(folder))
    assert.not.match(readFileSync(join(folder, file), 'utf8'), /sk-[A-Za-z0-9]{8}|gsk_|AIza|ghp_/)
})

test('mark the retired service with the date', () => {
  const github = providers.find(({ id }) => id === 'github')!
  assert.equal([github.status?.state, github.status?.since], ['retired', '2026-07-30'])
})

test('list the voices that their servers have', () => {
  for (const { id, capabilities } of manifests.filter(({ type }) => type === 'tts')) {
    const server = JSON.parse(readFileSync(join(folder, '..', 'speech', 'servers', `${id}.json`), 'utf8')) as {
      voices: { id: string }[]
      port: number
    }
    assert.equal(
      capabilities?.tts?.config?.voices?.map((voice) => voice.toLowerCase()),
      server.voices.map((voice) => voice.id.toLowerCase()),
      id,
    )
    assert.is(new URL(capabilities!.tts!.endpoint!).port, String(server.port))
  }
})

const lists: Record<string, string> = {
  openai: 'openai/list-models.json',
  anthropic: 'anthropic/list-models.json',
  groq: 'groq/list-models.json',
  gemini: 'gemini/list-models.json',
  mistral: 'mistral/list-models.json',
  github: 'github/list-models.json',
  openrouter: 'openrouter/list-models-2025.json',
}

for (const [id, list] of Object.entries(lists)) {
  const path = testData('cassettes', list)
  ;(path ? test : test.skip)(`${id}: the shipped list is the recorded one after the chat rule`, () => {
    const { models_source: source, model_map } = providers.find((manifest) => manifest.id === id)!
    const cassette = JSON.parse(readFileSync(path!, 'utf8')) as { exchanges: { response: { body: string } }[] }
    const rows = rowsOf(JSON.parse(cassette.exchanges[0]!.response.body), source!)!
    const kept = chatModels(rows, source!, Date.parse('2025-07-27'))
    const listed = kept.filter((name) => rows.some((row) => String(row['id'] ?? row['name']).endsWith(name)))
    process.stdout.write(`note: ${id}: ${listed.length} of ${rows.length} rows are chat models\n`)
    assert.equal([...kept].sort(), [...model_map].sort())
  })
}

test.run()
