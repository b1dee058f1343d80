import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { parseWav, writeWav } from '../../speech/audio/wav.ts'
import { speakSentences } from '../../speech/spoken-sentences.ts'
import { AppError } from '../../src/errors.ts'
import { Download } from '../../src/operations/operations.ts'
import { openHome } from '../helpers/program/command.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { openFastHome } from '../helpers/program/terminal.ts'
import { completionEvents, openStandIn } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('a text that is spoken while it comes')

const rate = 8000
/** A text that a test writes piece by piece; each waits until what is whole of it has been asked for. */
async function asked(pieces: readonly string[], refuses = (_: string): AppError | undefined => undefined) {
  const requests: string[] = []
  const soFar = { spoken: 0, total: 0, skipped: [] as string[] }
  async function* texts() {
    for (const piece of pieces) {
      yield piece
      for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
    }
  }
  const ask = async (text: string) => {
    requests.push(text)
    const refusal = refuses(text)
    if (refusal) throw refusal
    return new Download('audio/wav', writeWav(new Float32Array(100), rate), { headers: { 'x-speech-chunks': '1/1' } })
  }
  const audio: Uint8Array[] = []
  for await (const piece of speakSentences(texts(), ask, soFar)) audio.push(piece)
  return { requests, soFar, audio: Buffer.concat(audio) }
}

test('a sentence is spoken when it has ended, and the rest with the end of the text', async () => {
  const { requests, soFar } = await asked([
    'Hello th',
    'ere. Dr. ',
    'Smith is not in',
    ' today. And the la',
    'st words',
  ])
  assert.equal(requests, ['Hello there.', 'Dr. Smith is not in today.', 'And the last words'])
  assert.equal([soFar.spoken, soFar.total], [3, 3])
})

test('sentences that are there together are one request; a line break is a space, a blank line an end', async () => {
  const { requests } = await asked(['One. Two! Three is\n', 'longer. A title\n\n', '- first\n', '- second\n'])
  assert.equal(requests, ['One. Two!', 'Three is\nlonger. A title', '- first', '- second'])
})

test('a code block waits for its end, and a text without a full stop is spoken in parts', async () => {
  const { requests } = await asked(['Look. ```js\nconst a = 1. \n', 'b.\n', '```\nDone. ', 'word '.repeat(1500)])
  assert.equal(requests.slice(0, 2), ['Look.', '```js\nconst a = 1. \nb.\n```\nDone.'])
  assert.ok(requests.length > 3 && requests.every(({ length }) => length <= 2000))
})

test('between two parts there is the pause of the text, and one header', async () => {
  const { audio } = await asked(['One. ', 'Two. '])
  const { samples } = parseWav(audio)
  assert.ok(samples.length > 200 + 0.1 * rate && samples.length < 200 + 2 * rate, String(samples.length))
})

test('a part that cannot be spoken is counted; other failures, and a text of such parts alone, end it', async () => {
  const foreign = (text: string) =>
    /你/.test(text) ? new AppError('unavailable', 'The engine does not speak Chinese', { details: [] }) : undefined
  const failure = await asked(['你好。 '], foreign).catch((thrown: unknown) => thrown)
  assert.ok(failure instanceof AppError)
  const broken = await asked(['One. '], () => new AppError('busy', 'Too many')).catch((thrown: unknown) => thrown)
  assert.is((broken as AppError).code, 'busy')
  assert.is((await asked(['', ' \n'])).audio.length, 0)
})

test('aichat tts --stream gives the first sound while its pipe stalls', async () => {
  const home = openHome()
  const environment = { ...process.env, AICHAT_HOME: home.folder }
  const child = spawn(process.execPath, ['bin/aichat', 'tts', '--stream'], { env: environment })
  child.stdin.write('Hello there. The pipe stalls in the mid')
  const [first] = (await once(child.stdout, 'data')) as [Buffer]
  assert.is(first.toString('latin1', 0, 4), 'RIFF')
  const rest: Buffer[] = [first]
  child.stdout.on('data', (piece: Buffer) => rest.push(piece))
  child.stdin.end('dle of a word.')
  assert.equal(await once(child, 'close'), [0, null])
  assert.ok(parseWav(Buffer.concat(rest)).samples.length > 2 * 24_000)
  home.remove()
})

test('aichat tts --stream says nothing for an empty pipe', async () => {
  const home = openFastHome()
  assert.is((await home.aichat(['tts', '--stream'], { input: '' })).code, 64)
  home.remove()
})

test('chat --speak plays the answer while it is printed', async () => {
  const home = openFastHome({ CUSTOM_API_KEY: 'sk-canary-0123456789' })
  const stand = await openStandIn((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(completionEvents(['Hello', ' there. And', ' again.']).join(''))
  })
  await home.aichat(['plugin', 'install', '-', '--activate'], { input: JSON.stringify(pluginAt(stand.url)) })
  const heard = join(home.folder, 'heard.wav')
  writeFileSync(join(home.folder, 'aplay'), `#!/bin/sh\nexec /bin/cat > '${heard}'\n`, { mode: 0o755 })
  const environment = { PATH: home.folder }
  const { code, stdout, stderr } = await home.aichat(['chat', '--speak', 'Hi'], { environment })
  assert.equal([code, stdout, stderr], [0, 'Hello there. And again.\n', ''])
  assert.ok(parseWav(readFileSync(heard)).samples.length > 24_000)
  const without = await home.aichat(['chat', '--speak', 'Hi'], { environment: { ...environment, PATH: '/nowhere' } })
  assert.is(without.code, 69)
  assert.match(without.stderr, /Audio player not found/)
  await stand.close()
  home.remove()
})

test.run()
