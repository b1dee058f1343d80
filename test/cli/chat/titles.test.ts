import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { pluginAt } from '../../helpers/program/installation.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { completion, completionEvents, json, openStandIn } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'
import { openShown, sizes } from './talk-scene.ts'

const test = suite('titles of conversations')

const words = 'Why is the sky blue'

/** The name of a conversation of one question, when a model answers the request for a title with this text, or fails. */
async function nameAfter(title: string | undefined, titles = 'model'): Promise<string> {
  await using provider = await openStandIn((request, response) => {
    const { model, stream, messages } = JSON.parse(request.body)
    if (/^Name this conversation/.test(String(messages[0].content)))
      return title === undefined
        ? json(response, 400, { error: { message: 'no' } })
        : json(response, 200, completion(title, model))
    if (!stream) return json(response, 200, completion('blue', model))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(completionEvents(['blue'], model).join(''))
  })
  using home = openFastHome({ CUSTOM_API_KEY: 'sk-test' })
  const file = join(home.folder, 'plugin.json')
  writeFileSync(file, JSON.stringify(pluginAt(provider.url)))
  assert.is((await home.aichat(['plugin', 'install', file, '--activate'])).code, 0)
  await home.aichat(['config', 'set', 'chat.titles', titles])
  const environment = { CUSTOM_API_KEY: 'sk-test', OLLAMA_HOST: '127.0.0.1:9' }
  const shown = await openShown(home.folder, ['chat'], environment, sizes[0]!, false)
  await shown.until(/> $/)
  shown.type(`${words}\r`)
  await shown.until(/blue\s+> $/)
  shown.type('\x04')
  assert.equal(await shown.ended(), { code: 0, restored: true })
  const screen = (await shown.screen()).join('\n')
  assert.not.match(screen, /error|failed|could not/i)
  const { sessions } = JSON.parse((await home.aichat(['session', 'list', '--json'])).stdout)
  const [{ name }] = sessions
  assert.ok(screen.includes(name), screen)
  return name
}

test('are the first words, and with chat.titles = model what a model says after the first answer', async () => {
  assert.is(await nameAfter('Rayleigh scattering of light', 'words'), words)
  assert.is(await nameAfter('Rayleigh scattering of light'), 'Rayleigh scattering of light')
})

test('are cleaned of marks, control sequences and further lines, and cut', async () => {
  assert.is(await nameAfter('\n"**Title: The \u001b[31mblue\u001b[0m sky**."\nAnd more.'), 'The blue sky')
  const long = await nameAfter('blue '.repeat(800))
  assert.is(long, 'blue blue blue blue blue blue blue blue')
  const unbroken = await nameAfter('b'.repeat(4_000))
  assert.ok(unbroken.length <= 49, unbroken)
})

test('stay the first words where the model fails or says nothing', async () => {
  assert.is(await nameAfter(undefined), words)
  assert.is(await nameAfter('"***"'), words)
})

test.run()
