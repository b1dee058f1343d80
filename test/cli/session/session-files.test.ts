import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { pluginAt } from '../../helpers/program/installation.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { completion, json, openStandIn } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('the pictures of a session, on the command line')

const bytes = Buffer.from('89504e470d0a1a0a00', 'hex')
const url = `data:image/png;base64,${bytes.toString('base64')}`

test('a later question has the picture, an export holds it, and the last question can be asked again', async () => {
  const provider = await openStandIn((_request, response) => json(response, 200, completion('A dot.')))
  const home = openFastHome({ CUSTOM_API_KEY: 'sk-of-the-test' })
  const aichat = async (words: readonly string[], input?: string) => {
    const { code, stdout, stderr } = await home.aichat(words, input === undefined ? {} : { input })
    assert.is(code, 0, stderr)
    return stdout
  }
  const pictures = () =>
    JSON.parse(provider.received.at(-1)!.body).messages.map(({ content }: { content: unknown }) =>
      JSON.stringify(content).includes(url),
    )
  try {
    await aichat(['plugin', 'install', '-', '--activate'], JSON.stringify(pluginAt(provider.url)))
    const picture = join(home.folder, 'dot.png')
    writeFileSync(picture, bytes)
    await aichat(['chat', '-S', '-s', 'Talk', '-f', picture, 'What is this?'])
    await aichat(['chat', '-S', '-s', 'Talk', '-f', picture, 'And this?'])
    await aichat(['chat', '-S', '-s', 'Talk', 'Are they alike?'])
    assert.equal(pictures(), [true, false, true, false, false])
    assert.match(await aichat(['session', 'show', 'Talk']), /\[image_url\]\nWhat is this\?/)
    assert.match(await aichat(['session', 'export', 'Talk']), `![picture](${url})\nWhat is this?`)
    const path = join(home.folder, 'talk.json')
    await aichat(['session', 'export', 'Talk', '--format', 'json', '-o', path])
    assert.equal(JSON.parse(readFileSync(path, 'utf8')).messages[2].content[1], {
      type: 'image_url',
      image_url: { url },
    })
    await aichat(['session', 'undo', 'Talk'])
    await aichat(['chat', '-S', '-s', 'Talk', 'And this?'])
    assert.equal(pictures(), [true, false, true, false, false])
    truncateSync(picture, 60_000_000)
    const { code, stderr } = await home.aichat(['chat', '-s', 'Talk', '-f', picture, 'And now?'])
    assert.is(code, 65)
    assert.match(stderr, /dot\.png is larger than \d+ MiB/)
  } finally {
    await provider.close()
    home.remove()
  }
})

test.run()
