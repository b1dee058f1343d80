import * as assert from 'uvu/assert'
import { pluginAt } from '../../helpers/program/installation.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { type Answer, completion, json, openStandIn } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat persona memory proposals')

const provider: Answer = (request, response) => {
  const isExtraction = request.body.includes('You extract lasting facts')
  const facts = [
    { text: 'The cat Mog is afraid of thunder.', source: 1, confidence: 0.9 },
    { text: 'The cat Mog lives in Graz.', source: 1 },
  ]
  json(response, 200, completion(isExtraction ? JSON.stringify({ facts }) : 'Noted.'))
}

test('a chat leaves proposals, which are listed, accepted and rejected by the beginning of their ids', async () => {
  await using stand = await openStandIn(provider)
  using home = openFastHome({ CUSTOM_API_KEY: 'sk-of-the-test' })
  await home.aichat(['plugin', 'install', '-', '--activate'], { input: JSON.stringify(pluginAt(stand.url)) })
  await home.aichat(['persona', 'create', '--name', 'Ada', '-m', 'custom-model', '--memory', '--extract', 'manual'])
  const shown = await home.aichat(['persona', 'show', 'Ada'])
  assert.match(shown.stdout, /facts by its model: manual/)
  const question = ['chat', '-p', 'Ada', '-S', 'My cat Mog lives in Graz and is afraid of thunder.']
  const dry = await home.aichat([...question, '--dry-run'])
  assert.is(JSON.parse(dry.stdout).extract, 'manual')
  const asked = await home.aichat(question)
  assert.equal([asked.code, asked.stdout, asked.stderr], [0, 'Noted.\n', ''])
  const proposals = (...words: string[]) => home.aichat(['persona', 'memory', 'proposals', ...words])
  const open = async () => JSON.parse((await proposals('list', 'Ada', '--json')).stdout).proposals
  const [graz, thunder] = await open()
  assert.equal([graz.content, thunder.confidence], ['The cat Mog lives in Graz.', 0.9])
  assert.match((await proposals('list', 'Ada')).stdout, /SURE.*\n.*0\.50.*The cat Mog lives in Graz\./)
  const accepted = await proposals('accept', 'Ada', thunder.id.slice(0, 10))
  assert.is(accepted.code, 0, accepted.stderr)
  const stored = await home.aichat(['persona', 'memory', 'show', 'Ada', accepted.stdout.trim()])
  assert.match(stored.stdout, /extracted_by +"custom-model"[\s\S]*The cat Mog is afraid of thunder\./)
  assert.is((await proposals('accept', 'Ada', thunder.id)).code, 65)
  assert.is((await proposals('reject', 'Ada', graz.id)).stdout, `${graz.id}\n`)
  assert.equal(await open(), [])
  assert.is((await proposals('reject', 'Ada', 'nothing')).code, 67)
  assert.match((await proposals('list', 'Ada')).stderr, /no facts wait/)
  const off = await home.aichat(['persona', 'update', 'Ada', '--extract', 'always'])
  assert.equal([off.code, off.stdout], [64, ''])
})

test.run()
