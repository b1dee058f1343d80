import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openHome } from '../../helpers/program/command.ts'
import { runMain } from '../../helpers/program/terminal.ts'
import { openSpeech, type SpeechServer } from '../../helpers/speech/speech-server.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat --server with the address of a speech server')
const home = openHome()
test.after(() => home.remove())
const environment = { AICHAT_HOME: home.folder, HOME: home.folder }
let server: SpeechServer
test.before(async () => {
  server = await openSpeech('voxb-tts')
})
test.after(() => server.close())

test('tts speaks, lists its voices and shows its health', async () => {
  const run = (...words: string[]) => runMain([...words, '--server', server.url], { environment })
  const spoken = await run('tts', 'Hello there.')
  assert.equal([spoken.code, spoken.stderr], [0, ''])
  assert.is(spoken.bytes.subarray(0, 4).toString('latin1'), 'RIFF')
  const voices = await run('tts', 'voices', '--plain')
  assert.is(voices.code, 0, voices.stderr)
  const { host } = new URL(server.url)
  const list = (await (await fetch(`${server.url}/v1/voices`)).json()) as { voices: { id: string }[] }
  assert.is(voices.stdout.trimEnd().split('\n').length, list.voices.length)
  assert.ok(voices.stdout.startsWith(`${list.voices[0]!.id}\t`))
  assert.ok(voices.stdout.includes(`\t${host}\t`))
  const health = await run('tts', 'health', '--json')
  assert.is(JSON.parse(health.stdout).servers[0].engine, 'embedded', health.stderr)
  const unknown = await run('tts', '--voice', 'nobody', 'Hello.')
  assert.is(unknown.code, 65)
  assert.match(unknown.stderr, /voice/)
  const clip = join(home.folder, 'clip.wav')
  writeFileSync(clip, (await run('tts', 'One two three four five six seven eight nine ten.')).bytes)
  const cloned = await run('tts', 'clone', 'Hello.', '--ref', clip)
  assert.is(cloned.code, 0, cloned.stderr)
  assert.is(cloned.bytes.subarray(0, 4).toString('latin1'), 'RIFF')
})

test('any other command reports a speech server, with the next step', async () => {
  for (const words of [
    ['chat', 'hi'],
    ['chat', 'hi', '-S'],
    ['plugin', 'list'],
    ['setup', '--username', 'ada', '--password-stdin'],
    ['tts', 'design', 'Hello.', '--description', 'calm'],
  ]) {
    const { code, stderr } = await runMain([...words, '--server', server.url], { environment, input: 'Passw0rd' })
    assert.is(code, 69, `${words.join(' ')}: ${stderr}`)
    const expected =
      words[1] === 'design'
        ? /without this function\n.*voxa-tts/
        : /is a speech server, without the REST API\n.*--server/
    assert.match(stderr, expected)
  }
})

test.run()
