import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import type { ModelRow } from '../../src/plugins/catalog.ts'
import { testData } from '../helpers/data.ts'
import { openInstallation } from '../helpers/program/installation.ts'
import { json, openStandIn } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('model lists as the providers sent them')

const recorded: readonly (readonly [plugin: string, cassette: string, total: number, chat: number])[] = [
  ['openai', 'openai/list-models.json', 75, 38],
  ['anthropic', 'anthropic/list-models.json', 11, 14],
  ['groq', 'groq/list-models.json', 22, 14],
  ['gemini', 'gemini/list-models.json', 50, 21],
  ['mistral', 'mistral/list-models.json', 62, 54],
  ['github', 'github/list-models.json', 54, 49],
  ['openrouter', 'openrouter/list-models-2025.json', 319, 319],
]

/** The window in a row of three providers' lists. */
const windows: Readonly<Record<string, (row: ModelRow) => unknown>> = {
  gemini: (row) => row['inputTokenLimit'],
  mistral: (row) => row['max_context_length'],
  openrouter: (row) => (row['top_provider'] as ModelRow)['context_length'] ?? row['context_length'],
}

for (const [id, cassette, total, chat] of recorded) {
  const path = testData('cassettes', cassette)
  const recordedTest = path ? test : test.skip
  recordedTest(`${id}: of ${total} recorded rows the list holds ${chat} models, as the bundled one does`, async () => {
    const { body } = JSON.parse(readFileSync(path!, 'utf8')).exchanges[0].response as { body: string }
    await using provider = await openStandIn((request, response) => {
      const later = /[?&](?:after_id|pageToken|page|cursor)=/.test(request.url)
      json(response, 200, later ? { data: [], models: [] } : body)
    })
    const names = ['OPENAI', 'ANTHROPIC', 'GROQ', 'GEMINI', 'MISTRAL', 'GITHUB', 'OPENROUTER'].map(
      (name) => `${name}_API_KEY`,
    )
    const alternatives = ['GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY', 'GITHUB_TOKEN']
    await using installation = openInstallation({
      ...Object.fromEntries(names.map((name) => [name, 'key'])),
      PLUGIN_KEY_HOSTS: [...names, ...alternatives].map((name) => `${name}=${provider.host}`).join(','),
    })
    const { plugins } = installation.app
    const bundled = plugins.export(id)
    await plugins.update(id, { ...bundled, models_source: { ...bundled.models_source, url: `${provider.url}/models` } })
    const { lists } = await installation.app.models()
    const rows = []
    for await (const each of lists.refresh({ plugins: [id] })) rows.push(each)
    const [row] = rows
    assert.equal([row!.error, row!.after], [null, chat])
    assert.equal([row!.added, row!.removed], [[], []])
    assert.is(bundled.model_map.length, chat)
    assert.match(bundled.models_as_of!, /^20\d\d-\d\d/)
    const answer = JSON.parse(body)
    const all: ModelRow[] = Array.isArray(answer) ? answer : (answer.data ?? answer.models)
    assert.is(all.length, total)
    const window = windows[id]
    if (!window) return
    const refreshed = plugins.get(id)
    for (const each of all) {
      const name = String(each['id'] ?? each['name']).replace('models/', '')
      if (!refreshed.model_map.includes(name)) continue
      assert.equal(installation.app.facts.of(refreshed, name).context_window, window(each), name)
      assert.is(installation.app.facts.windowSource(refreshed, name), 'list')
    }
  })
}

test.run()
